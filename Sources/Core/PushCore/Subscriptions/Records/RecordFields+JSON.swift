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
        var reader = RecordFieldsReader(rootPath: path)
        try reader.read(json, prefix: "", names: 1, isKnown: { _ in false })
        self = reader.fields
    }

    /// Reads the fields of a record from an object of an event.
    init(_ reader: FieldReader) throws(EventRejection) { try self.init(json: reader.object, path: reader.path) }
}
