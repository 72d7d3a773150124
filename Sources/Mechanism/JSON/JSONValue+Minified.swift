extension JSONValue {
    /// Appends the value as JSON without white space.
    ///
    /// Integers keep their digits. Other numbers are written as the shortest text that gives the same double, so `1.50`
    /// becomes `1.5`; strings keep their characters, but not their choice of escapes; members keep their order, and
    /// keys that occur twice stay.
    ///
    /// - Parameter bytes: the buffer to append to.
    public func appendMinified(to bytes: inout [UInt8]) {
        Self.append(tape, index, to: &bytes)
    }

    /// The value as JSON without white space, as `appendMinified` writes it.
    public var minified: [UInt8] {
        var bytes: [UInt8] = []
        appendMinified(to: &bytes)
        return bytes
    }

    private static func append(_ tape: JSONTape, _ index: UInt32, to bytes: inout [UInt8]) {
        switch tape.type(index) {
        case JSONTape.WordType.object: appendContents(tape, index, isObject: true, to: &bytes)
        case JSONTape.WordType.array: appendContents(tape, index, isObject: false, to: &bytes)
        case JSONTape.WordType.string: JSONText.append(string: tape.string(index), to: &bytes)
        case JSONTape.WordType.signed: JSONText.append(Int64(bitPattern: tape.word(index + 1)), to: &bytes)
        case JSONTape.WordType.unsigned: JSONText.append(tape.word(index + 1), to: &bytes)
        case JSONTape.WordType.double: JSONText.append(Double(bitPattern: tape.word(index + 1)), to: &bytes)
        case JSONTape.WordType.yes: JSONText.append("true", to: &bytes)
        case JSONTape.WordType.no: JSONText.append("false", to: &bytes)
        default: JSONText.append("null", to: &bytes)
        }
    }

    /// Recurses, as deeply as `JSONParser.depthMaximum` allows at most.
    private static func appendContents(
        _ tape: JSONTape,
        _ index: UInt32,
        isObject: Bool,
        to bytes: inout [UInt8]
    ) {
        bytes.append(isObject ? UInt8(ascii: "{") : UInt8(ascii: "["))
        let end = tape.indexAfter(index) - 1
        var current = index + 1
        while current < end {
            if current > index + 1 { bytes.append(UInt8(ascii: ",")) }
            if isObject {
                JSONText.append(string: tape.string(current), to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                current += 1
            }
            append(tape, current, to: &bytes)
            current = tape.indexAfter(current)
        }
        bytes.append(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }
}
