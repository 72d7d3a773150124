public import JSON

// The lines of scripts and of faults.
extension JSONObject {
    /// Reads a line.
    ///
    /// - Parameter bytes: the line.
    /// - Returns: its members.
    /// - Throws: `SimulatorError` (`scriptInvalid`) if it is not one object.
    public static func line(_ bytes: [UInt8]) throws(SimulatorError) -> JSONObject {
        guard let object = (try? JSONParser(depthMaximum: 8).parse(bytes))?.object else {
            throw .scriptInvalid("it has to be one JSON object")
        }
        return object
    }

    /// Refuses members that a line cannot have.
    ///
    /// - Parameters:
    ///   - names: the known names.
    ///   - list: the names as an error lists them.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the first other name.
    public func require(_ names: [String], listed list: String) throws(SimulatorError) {
        guard let unknown = first(where: { !names.contains($0.key) })?.key else { return }
        throw .scriptInvalid("\"\(unknown)\" is unknown; \(list)")
    }

    /// A number.
    ///
    /// - Parameters:
    ///   - key: the name of the member.
    ///   - range: the allowed numbers.
    /// - Returns: the number; nil if there is no such member.
    /// - Throws: `SimulatorError` (`scriptInvalid`) if it is anything else.
    public func integer(_ key: StaticString, _ range: ClosedRange<Int64>) throws(SimulatorError) -> Int? {
        guard let value = self[key] else { return nil }
        guard let number = value.int64, range.contains(number) else {
            throw .scriptInvalid("\"\(key)\" has to be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(number)
    }

    /// The member `times`: how often a line applies; nil if it always does.
    ///
    /// - Throws: `SimulatorError` (`scriptInvalid`) if it is no number from 1 on.
    public func times() throws(SimulatorError) -> Int? { try integer("times", 1...Int64(Int32.max)) }

    /// The header in the member `retry_after`: a text, or seconds.
    public var retryAfter: String? { self["retry_after"].flatMap { $0.string ?? $0.int64.map { String($0) } } }
}
