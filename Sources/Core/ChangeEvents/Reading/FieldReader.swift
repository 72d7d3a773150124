import Essentials
public import JSON
public import Notifications

/// Reads the members of one JSON object and reports their faults precisely.
///
/// A member that is `null` counts as absent. A message names the path of a field and the kind of its value, never its
/// contents, which may be device tokens.
public struct FieldReader {
    let object: JSONObject
    /// Where the object lies, for example `data.notification`.
    public let path: String

    init(_ object: JSONObject, path: String) {
        self.object = object
        self.path = path
    }

    /// Reads a value that has to be an object.
    public init(_ value: JSONValue, path: String) throws(EventRejection) {
        guard let object = value.object else { throw Self.invalid(path, value, "an object") }
        self.init(object, path: path)
    }

    // MARK: - Rejections

    static func invalid(_ path: String, _ found: JSONValue, _ expected: String) -> EventRejection {
        invalid(path, found: found.kindDescription, expected)
    }

    static func invalid(_ path: String, found: String, _ expected: String) -> EventRejection {
        EventRejection(.invalidField, "\(path) is \(found); it must be \(expected)")
    }

    /// The path of a member.
    public func path(_ key: StaticString) -> String { "\(path).\(key)" }

    func invalid(_ key: StaticString, _ found: JSONValue, _ expected: String) -> EventRejection {
        Self.invalid(path(key), found, expected)
    }

    /// Says that a member is missing, and what it has to be.
    public func missing(_ key: StaticString, _ expected: String) -> EventRejection {
        EventRejection(.missingField, "\(path(key)) is missing; it must be \(expected)")
    }

    // MARK: - Members

    /// The member, unless there is none or it is `null`.
    public func value(_ key: StaticString) -> JSONValue? {
        guard let value = object[key], !value.isNull else { return nil }
        return value
    }

    func requiredValue(_ key: StaticString, _ expected: String) throws(EventRejection) -> JSONValue {
        guard let value = value(key) else { throw missing(key, expected) }
        return value
    }

    /// The object of that key, ready to be read.
    func reader(_ key: StaticString) throws(EventRejection) -> FieldReader? {
        guard let value = value(key) else { return nil }
        return try FieldReader(value, path: path(key))
    }

    /// The string of that key, of any length.
    public func text(_ key: StaticString) throws(EventRejection) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.string else { throw invalid(key, value, "a string") }
        return text
    }

    /// The strings of that key, of any length.
    public func texts(_ key: StaticString) throws(EventRejection) -> [String]? {
        guard let value = value(key) else { return nil }
        guard let array = value.array else { throw invalid(key, value, "an array of strings") }
        var texts: [String] = []
        for element in array {
            guard let text = element.string else {
                throw Self.invalid("\(path(key))[\(texts.count)]", element, "a string")
            }
            texts.append(text)
        }
        return texts
    }

    /// A switch: `true` or `false`, or 1 or 0 as Apple's own payloads write it; false if it is not there.
    public func flag(_ key: StaticString) throws(EventRejection) -> Bool {
        guard let value = value(key) else { return false }
        if let bool = value.bool { return bool }
        guard let number = value.int64, number == 0 || number == 1 else {
            throw invalid(key, value, "true or false")
        }
        return number == 1
    }

    func integer(
        _ key: StaticString, _ range: ClosedRange<Int64>, _ expected: String
    ) throws(EventRejection) -> Int64? {
        guard let value = value(key) else { return nil }
        guard let number = value.int64 else {
            throw Self.invalid(path(key), found: value.uint64.map(String.init) ?? value.kindDescription, expected)
        }
        guard range.contains(number) else { throw Self.invalid(path(key), found: String(number), expected) }
        return number
    }

    func number(_ key: StaticString, _ expected: String) throws(EventRejection) -> Double? {
        guard let value = value(key) else { return nil }
        guard let number = value.double else { throw invalid(key, value, expected) }
        return number
    }

    /// A moment in seconds since 1970, before the year 10000, given as such or as an RFC 3339 timestamp, which is
    /// rounded down.
    func moment(_ key: StaticString) throws(EventRejection) -> Int64? {
        guard let value = value(key) else { return nil }
        let bounds = 0...WallTime.latest.seconds
        let expected =
            "a whole number of seconds since 1970, at most \(bounds.upperBound), or an RFC 3339 timestamp such as"
            + " 2026-01-31T12:00:00Z"
        if let number = value.int64 {
            guard bounds.contains(number) else { throw Self.invalid(path(key), found: String(number), expected) }
            return number
        }
        guard let milliseconds = value.withUTF8(RFC3339.milliseconds) ?? nil, milliseconds >= 0 else {
            throw invalid(key, value, expected)
        }
        return WallTime(milliseconds: milliseconds).seconds
    }

    /// One of a few words.
    public func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: StaticString, of type: Choice.Type
    ) throws(EventRejection) -> Choice? where Choice.RawValue == String {
        guard let value = value(key) else { return nil }
        guard let choice = value.string.flatMap(Choice.init(rawValue:)) else {
            throw invalid(key, value, "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    /// Any JSON object, to be passed on without being understood.
    func rawObject(_ key: StaticString) throws(EventRejection) -> RawJSON? {
        guard let value = value(key) else { return nil }
        guard value.kind == .object else { throw invalid(key, value, "an object") }
        return RawJSON(validated: value.minified)
    }
}
