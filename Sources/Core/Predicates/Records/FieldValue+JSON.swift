import Essentials
internal import Geography
public import JSON

extension FieldValue {
    /// Reads a value whose JSON form shows its type.
    ///
    /// An object with `latitude` and `longitude` is a place, one with `recordName` a reference, one of `value` and
    /// `type` what CloudKit means by that type. Lists lose unsupported members: `null`, lists and other objects.
    ///
    /// - Parameter value: the JSON.
    /// - Returns: the value; nil for `null` and for an object that is no value.
    /// - Throws: `ValueMismatch` if it is too large, or no place on the Earth.
    public static func plain(_ value: JSONValue) throws(ValueMismatch) -> FieldValue? {
        switch value.kind {
        case .null: return nil
        case .boolean: return .boolean(value.bool == true)
        case .integer, .double: return number(value)
        case .string: return .of(try text(value))
        case .object:
            guard let object = value.object else { return nil }
            if let field = CloudKitField(object) { return try field.fieldValue() }
            if object.isLocation { return .location(try location(object)) }
            guard object.isReference else { return nil }
            return try reference(object)
        case .array:
            return .list(
                try members(value) { (member) throws(ValueMismatch) in
                    guard member.kind != .array, let value = try plain(member) else { return nil }
                    if case .list = value { return nil }
                    return value
                })
        }
    }

    /// Reads a value that is said to be of a type.
    ///
    /// - Parameters:
    ///   - value: the JSON.
    ///   - type: its type.
    /// - Returns: the value; nil if it is of an unsupported type.
    /// - Throws: `ValueMismatch` if it is of another type, or too large.
    static func typed(_ value: JSONValue, _ type: CloudKitType) throws(ValueMismatch) -> FieldValue? {
        guard type.isList else {
            guard let element = type.element else { return nil }
            return try typed(value, element)
        }
        return .list(
            try members(value) { (member) throws(ValueMismatch) in
                guard let element = type.element else { throw ValueMismatch(value, "an empty array") }
                return try typed(member, element)
            })
    }

    private static func typed(
        _ value: JSONValue, _ element: CloudKitType.Element
    ) throws(ValueMismatch) -> FieldValue? {
        switch element {
        case .string: return .of(try text(value))
        case .integer:
            if let bool = value.bool { return .boolean(bool) }
            guard let number = number(value), number.isWhole else { throw ValueMismatch(value, "a whole number") }
            return number
        case .double:
            guard let number = number(value) else { throw ValueMismatch(value, "a number") }
            return number
        case .timestamp:
            guard let milliseconds = number(value)?.nearestInteger else {
                throw ValueMismatch(value, "a number of milliseconds since 1970")
            }
            return .date(milliseconds: milliseconds)
        case .bytes: return .bytes(try bytes(value))
        case .reference:
            guard let object = value.object else { throw ValueMismatch(value, "an object with a recordName") }
            return try reference(object)
        case .location:
            guard let object = value.object else { throw ValueMismatch(value, locationExpected) }
            return .location(try location(object))
        case .asset: return nil
        }
    }

    // MARK: - Parts

    private static let locationExpected =
        "an object with a latitude from -90 to 90 and a longitude from -180 to 180"

    private static func number(_ value: JSONValue) -> FieldValue? {
        if let integer = value.int64 { return .integer(integer) }
        return value.double.flatMap(FieldValue.of)
    }

    private static func text(_ value: JSONValue) throws(ValueMismatch) -> String {
        guard let count = value.withUTF8(\.count) else { throw ValueMismatch(value, "a string") }
        guard count <= RecordLimits.textBytesMaximum, let text = value.string else {
            throw ValueMismatch(value, "a string of at most \(RecordLimits.textBytesMaximum) bytes")
        }
        return text
    }

    private static func bytes(_ value: JSONValue) throws(ValueMismatch) -> [UInt8] {
        guard let decoded = value.withUTF8(Base64.decode), let bytes = decoded else {
            throw ValueMismatch(value, "a string in base64")
        }
        guard bytes.count <= RecordLimits.textBytesMaximum else {
            throw ValueMismatch(value, "base64 of at most \(RecordLimits.textBytesMaximum) bytes")
        }
        return bytes
    }

    private static func location(_ object: JSONObject) throws(ValueMismatch) -> Location {
        guard let latitude = object["latitude"]?.double, let longitude = object["longitude"]?.double,
            let location = Location(latitude: latitude, longitude: longitude)
        else { throw ValueMismatch(found: "no place on the Earth", locationExpected) }
        return location
    }

    private static func reference(_ object: JSONObject) throws(ValueMismatch) -> FieldValue {
        let recordName = try text("recordName", of: object)
        guard let zoneID = object["zoneID"], !zoneID.isNull else { return .reference(to: recordName) }
        guard let zone = zoneID.object else {
            throw ValueMismatch(zoneID, "an object with a zoneName", path: ".zoneID")
        }
        do {
            return .reference(to: recordName, zoneName: try text("zoneName", of: zone))
        } catch {
            throw error.under(".zoneID")
        }
    }

    private static func text(_ member: StaticString, of object: JSONObject) throws(ValueMismatch) -> String {
        guard let value = object[member] else {
            throw ValueMismatch(found: "an object without one", "a string", path: ".\(member)")
        }
        do {
            return try text(value)
        } catch {
            throw error.under(".\(member)")
        }
    }

    private static func members(
        _ value: JSONValue, _ read: (JSONValue) throws(ValueMismatch) -> FieldValue?
    ) throws(ValueMismatch) -> [FieldValue] {
        guard let array = value.array else { throw ValueMismatch(value, "an array") }
        var members: [FieldValue] = []
        for (index, value) in array.enumerated() {
            guard index < RecordLimits.membersMaximum else {
                throw ValueMismatch(
                    found: "an array of more than \(index) elements", "an array of at most that many")
            }
            do {
                if let member = try read(value) { members.append(member) }
            } catch {
                throw error.under("[\(index)]")
            }
        }
        return members
    }
}

extension JSONObject {
    /// CloudKit's members of a place.
    public static let locationMembers: [StaticString] = [
        "latitude", "longitude", "horizontalAccuracy", "verticalAccuracy", "altitude", "speed", "course", "timestamp",
    ]
    /// CloudKit's members of a reference to another record.
    public static let referenceMembers: [StaticString] = ["recordName", "zoneID", "action"]

    /// Whether it has what makes a place.
    public var isLocation: Bool {
        guard let latitude = self["latitude"], let longitude = self["longitude"] else { return false }
        return latitude.double != nil && longitude.double != nil
    }

    /// Whether it has what makes a reference to another record.
    public var isReference: Bool { self["recordName"]?.kind == .string }
}

/// Why some JSON is not the value of a field that it should be.
public struct ValueMismatch: Error {
    /// Where in the value, for example `[3]`; empty for the value itself.
    public let path: String
    /// The found kind of value, without its contents.
    public let found: String
    /// The expected kind of value.
    public let expected: String

    init(_ value: JSONValue, _ expected: String, path: String = "") {
        self.init(found: value.kindDescription, expected, path: path)
    }

    init(found: String, _ expected: String, path: String = "") {
        self.path = path
        self.found = found
        self.expected = expected
    }

    /// The same within something else.
    func under(_ outer: String) -> ValueMismatch { ValueMismatch(found: found, expected, path: outer + path) }
}
