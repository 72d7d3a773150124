/// Writes JSON straight into bytes that are reused: no tree is built, and no commas need to be minded.
///
///     var writer = JSONWriter()
///     writer.beginObject()
///     writer.key("badge")
///     writer.integer(3)
///     writer.endObject()
///     send(writer.bytes)
///     writer.removeAll()
///
/// That brackets match and that a member has both key and value is the caller's duty; brackets that do not match trap.
public struct JSONWriter {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []

    private var needsComma = false
    private var depth = 0

    /// Creates a writer.
    ///
    /// - Parameter capacityBytes: for how much text to have room from the start.
    public init(capacityBytes: Int = 256) { bytes.reserveCapacity(capacityBytes) }

    /// How many bytes a string takes when it is written, without its quotes: a control character can take six.
    public static func bytes(of string: some StringProtocol) -> Int {
        string.utf8.reduce(0) { count, byte in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0a, 0x0c, 0x0d: count + 2
            case 0..<0x20: count + 6
            default: count + 1
            }
        }
    }

    /// Empties the writer, and keeps its memory for the next document.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
        depth = 0
    }

    /// Begins an object.
    public mutating func beginObject() { begin(UInt8(ascii: "{")) }

    /// Ends the object begun last.
    public mutating func endObject() { end(UInt8(ascii: "}")) }

    /// Begins an array.
    public mutating func beginArray() { begin(UInt8(ascii: "[")) }

    /// Ends the array begun last.
    public mutating func endArray() { end(UInt8(ascii: "]")) }

    /// Writes a key that is a literal; its value comes next.
    public mutating func key(_ key: StaticString) {
        separate()
        JSONText.append(
            string: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount),
            to: &bytes
        )
        endKey()
    }

    /// Writes a key that is known at run time only; its value comes next.
    public mutating func key(dynamic key: String) {
        separate()
        append(key)
        endKey()
    }

    /// Writes a string.
    public mutating func string(_ string: String) {
        separate()
        append(string)
        needsComma = true
    }

    /// Writes a string from its bytes.
    ///
    /// - Parameter utf8: the text; invalid UTF-8 is written as U+FFFD.
    public mutating func string(utf8: UnsafeBufferPointer<UInt8>) {
        guard utf8.allSatisfy({ byte in byte < 0x80 }) else {
            return string(String(decoding: utf8, as: UTF8.self))
        }
        separate()
        JSONText.append(string: utf8, to: &bytes)
        needsComma = true
    }

    /// Writes an integer.
    @inlinable
    public mutating func integer(_ number: some FixedWidthInteger) {
        if number < 0 { integer(Int64(number)) } else { integer(UInt64(number)) }
    }

    /// Writes an integer.
    public mutating func integer(_ number: Int64) {
        separate()
        JSONText.append(number, to: &bytes)
        needsComma = true
    }

    /// Writes an integer.
    public mutating func integer(_ number: UInt64) {
        separate()
        JSONText.append(number, to: &bytes)
        needsComma = true
    }

    /// Writes the shortest text that reads back as the same double; `null` for infinity and NaN, which JSON has not.
    public mutating func double(_ number: Double) {
        separate()
        JSONText.append(number, to: &bytes)
        needsComma = true
    }

    /// Writes `true` or `false`.
    public mutating func boolean(_ value: Bool) {
        separate()
        JSONText.append(value ? "true" : "false", to: &bytes)
        needsComma = true
    }

    /// Writes `null`.
    public mutating func null() {
        separate()
        JSONText.append("null", to: &bytes)
        needsComma = true
    }

    /// Writes a fixed part of a document in place of several calls; no comma is written after it.
    ///
    /// Its brackets and commas are the caller's duty, too.
    public mutating func part(_ text: StaticString) {
        JSONText.append(text, to: &bytes)
        needsComma = false
    }

    /// Writes a value that is known to be valid JSON, unchanged.
    public mutating func raw(_ json: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    /// Writes a value of a parsed document, minified.
    public mutating func value(_ value: JSONValue) {
        separate()
        value.appendMinified(to: &bytes)
        needsComma = true
    }

    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
        depth += 1
    }

    private mutating func end(_ bracket: UInt8) {
        precondition(depth > 0, "there is no object or array to end")
        depth -= 1
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func endKey() {
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func append(_ string: String) {
        var string = string
        string.withUTF8 { utf8 in JSONText.append(string: utf8, to: &bytes) }
    }
}
