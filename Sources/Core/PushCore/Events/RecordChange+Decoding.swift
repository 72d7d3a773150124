internal import JSON
import Notifications
import Predicates

extension RecordChange {
    /// Reads the data of `record.created`, `.updated` or `.deleted`.
    init(_ operation: Operation, _ data: FieldReader) throws(EventRejection) {
        try data.allowOnly(Self.members)
        let database = try data.choice("database", of: RecordDatabase.self) ?? .public
        let ownerID = try data.text("ownerId", .name)
        guard database == .public || ownerID != nil else {
            throw data.missing("ownerId", "the user whose \(database.rawValue) database the record lies in")
        }
        self.init(
            operation: operation, app: try data.text("app", .app),
            recordType: try data.requiredText("recordType", .name),
            recordName: try data.requiredText("recordName", .name),
            fields: try data.reader("fields").map { fields throws(EventRejection) in try RecordFields(fields) }
                ?? RecordFields(),
            zoneName: try data.text("zoneName", .name) ?? FieldValue.defaultZoneName, database: database,
            ownerID: ownerID,
            deviceID: try data.text("deviceId", .name))
    }

    private static let members = MemberNames(
        ["recordType", "recordName", "fields", "app", "database", "ownerId", "zoneName", "deviceId"],
        advice: ["userId": "the owner of a private or shared database is ownerId"])
}
