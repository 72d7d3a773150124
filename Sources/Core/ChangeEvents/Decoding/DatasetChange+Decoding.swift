internal import JSON
import Notifications
import Predicates

extension DatasetChange {
    /// Reads the data of `dataset.changed`.
    init(changed data: FieldReader) throws(EventRejection) {
        try data.allowOnly(Self.members)
        self.init(
            operation: .changed,
            key: try DatasetKey(data),
            syncCount: try Self.syncCount(data.requiredValue("syncCount", Self.syncCountExpected), data),
            deviceID: try data.text("deviceId", .name))
    }

    /// Reads the data of `dataset.deleted`.
    init(deleted data: FieldReader) throws(EventRejection) {
        try data.allowOnly(Self.members)
        self.init(
            operation: .deleted,
            key: try DatasetKey(data),
            syncCount: try Self.optionalSyncCount(data),
            deviceID: try data.text("deviceId", .name))
    }

    /// Reads the data of `datasets.merged`.
    init(merged data: FieldReader) throws(EventRejection) {
        try data.allowOnly(Self.membersOfMerged)
        let key = try DatasetKey(data)
        let names = try data.distinctTexts(
            "mergedDatasetNames", .datasetName, countMaximum: EventLimits.mergedDatasetsMaximum)
        self.init(
            operation: .merged(names),
            key: key,
            syncCount: try Self.optionalSyncCount(data),
            deviceID: try data.text("deviceId", .name))
    }

    private static let members = MemberNames([
        "identityPoolId", "identityId", "datasetName", "syncCount", "deviceId",
    ])
    private static let membersOfMerged = MemberNames(members.names + ["mergedDatasetNames"])

    private static let syncCountExpected = "a whole number of 0 to 9223372036854775807, or its digits in a string"

    private static func optionalSyncCount(_ data: FieldReader) throws(EventRejection) -> Int64? {
        guard let value = data.value("syncCount") else { return nil }
        return try syncCount(value, data)
    }

    /// Reads a count, which Cognito's clients write as a number and read as a string.
    private static func syncCount(_ value: JSONValue, _ data: FieldReader) throws(EventRejection) -> Int64 {
        if value.kind == .string {
            guard let count = value.withUTF8(decimal) ?? nil else {
                throw data.invalid("syncCount", value, syncCountExpected)
            }
            return count
        }
        guard let count = value.int64 else {
            let found = value.uint64.map { number in String(number) } ?? value.kindDescription
            throw FieldReader.invalid(data.path("syncCount"), found: found, syncCountExpected)
        }
        guard count >= 0 else {
            throw FieldReader.invalid(data.path("syncCount"), found: String(count), syncCountExpected)
        }
        return count
    }

    private static func decimal(_ digits: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.count <= 32 else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isStillTooLarge) = product.addingReportingOverflow(Int64(digit) - 48)
            guard !isTooLarge, !isStillTooLarge else { return nil }
            number = sum
        }
        return number
    }
}

extension DatasetKey {
    /// Reads the three names that every dataset event has.
    init(_ data: FieldReader) throws(EventRejection) {
        self.init(
            identityPoolID: try data.requiredText("identityPoolId", .identity),
            identityID: try data.requiredText("identityId", .identity),
            datasetName: try data.requiredText("datasetName", .datasetName))
    }
}

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
