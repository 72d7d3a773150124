public import JSON
public import Notifications
public import Predicates

extension RecordFields {
    /// Reads the fields of a record from JSON, in the forms that publishers have them.
    ///
    /// | JSON | field |
    /// |---|---|
    /// | string, number, `true`, `false` | that value |
    /// | `null` | missing |
    /// | array | a list; its members that are `null`, arrays or objects other than the next two are left out |
    /// | object with the numbers `latitude` and `longitude` | a place |
    /// | object with the string `recordName` | a reference to that record, in the zone `zoneID.zoneName` |
    /// | any other object | its members are fields: `author.name`, up to five names; deeper ones are left out |
    /// | `{"value": …, "type": "TIMESTAMP"}` as a field of the record | what CloudKit means by that type |
    ///
    /// Members of a place or a reference that CloudKit does not know (`{"latitude": 52.5, "longitude": 13.4, "name":
    /// "Berlin"}`) are fields as well: `place.name`.
    ///
    /// - Parameters:
    ///   - json: the object with the fields.
    ///   - path: where it lies, for messages.
    /// - Throws: `EventRejection` `.invalidField`, if a limit of `RecordLimits` is exceeded, or a value is not of the
    ///   type that is written beside it.
    public init(json: JSONObject, path: String = "fields") throws(EventRejection) {
        var reader = RecordFieldsReader(rootPath: path, json)
        try reader.read(json, prefix: "", names: 1, isKnown: { _ in false })
        self = reader.fields
    }

    /// Reads the fields of a record from an object of an event.
    init(_ reader: FieldReader) throws(EventRejection) { try self.init(json: reader.object, path: reader.path) }
}

/// Reads the fields of a record, object by object (`RecordFields.init(json:path:)`).
struct RecordFieldsReader {
    /// Where the record lies, for messages.
    let rootPath: String
    /// The fields read so far.
    private(set) var fields = RecordFields()

    /// Begins a record that has about as many fields as an object has members.
    init(rootPath: String, _ object: JSONObject) {
        self.rootPath = rootPath
        fields.reserveCapacity(min(object.count, RecordLimits.fieldsMaximum))
    }

    /// Reads the members of an object.
    ///
    /// - Parameters:
    ///   - object: the object.
    ///   - prefix: the path of the object; empty for the record.
    ///   - names: how many names the paths of its members have.
    ///   - isKnown: tells the members that are part of the object's own value.
    /// - Throws: `EventRejection` `.invalidField`.
    mutating func read(
        _ object: JSONObject, prefix: String, names: Int, isKnown: (JSONMember) -> Bool
    ) throws(EventRejection) {
        for member in object where !member.value.isNull && !isKnown(member) {
            let name = member.key
            guard !name.isEmpty else {
                throw rejection(prefix, found: "an object with an empty name in it", "one whose members have names")
            }
            guard prefix.utf8.count + 1 + name.utf8.count <= RecordLimits.pathBytesMaximum else {
                throw rejection(
                    prefix, found: "an object with a member whose path takes more bytes than is accepted",
                    "one whose members have paths of at most \(RecordLimits.pathBytesMaximum) bytes")
            }
            try readField(prefix.isEmpty ? name : "\(prefix).\(name)", member.value, names: names)
        }
    }

    private mutating func readField(_ path: String, _ value: JSONValue, names: Int) throws(EventRejection) {
        if let object = value.object {
            try set(path, value)
            guard CloudKitField(object) == nil, names < RecordLimits.pathNamesMaximum else { return }
            let known =
                object.isLocation
                ? JSONObject.locationMembers : object.isReference ? JSONObject.referenceMembers : []
            try read(object, prefix: path, names: names + 1) { member in known.contains { member.isNamed($0) } }
        } else {
            try set(path, value)
        }
    }

    private mutating func set(_ path: String, _ json: JSONValue) throws(EventRejection) {
        let value: FieldValue?
        do {
            value = try FieldValue.plain(json)
        } catch {
            throw rejection(path + error.path, found: error.found, error.expected)
        }
        guard let value else { return }
        fields[path] = value
        guard fields.paths.count <= RecordLimits.fieldsMaximum else {
            throw EventRejection(
                .invalidField,
                "\(rootPath) has more than \(RecordLimits.fieldsMaximum) fields, those of objects in it included;"
                    + " it must have no more")
        }
    }

    // MARK: - Rejections

    private func rejection(_ path: String, found: String, _ expected: String) -> EventRejection {
        // Names are a publisher's own: they must not break the line of a log.
        let path = path.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : String($0) }.joined()
        return FieldReader.invalid(path.isEmpty ? rootPath : "\(rootPath).\(path)", found: found, expected)
    }
}
