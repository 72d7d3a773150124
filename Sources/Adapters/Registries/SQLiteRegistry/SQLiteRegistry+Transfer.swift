import Notifications
public import RegistryCore
import RegistrySQL

extension SQLiteRegistry: RegistryTransfer {
    // MARK: Devices

    /// Devices with everything that is theirs.
    public func deviceRecords(after deviceID: String?, limit: Int) throws(RegistryError) -> [DeviceRecord] {
        try reading { () throws(RegistryError) in
            let statement = try statements.statement(
                """
                SELECT \(DeviceRow.columns), n.name, d.badge FROM device d LEFT JOIN identity n ON n.id = d.identity
                WHERE d.device_id > ?1 ORDER BY d.device_id LIMIT ?2
                """)
            statement.bind(1, deviceID ?? "")
            statement.bind(2, Int64(max(limit, 0)))
            var records: [DeviceRecord] = []
            try statement.forEachRow { row throws(RegistryError) in records.append(try record(row)) }
            return records
        }
    }

    /// The named devices that exist.
    public func deviceRecords(named deviceIDs: [String]) throws(RegistryError) -> [DeviceRecord] {
        try reading { () throws(RegistryError) in
            let statement = try statements.statement(
                """
                SELECT \(DeviceRow.columns), n.name, d.badge FROM device d LEFT JOIN identity n ON n.id = d.identity
                WHERE d.device_id = ?1
                """)
            var records: [DeviceRecord] = []
            for deviceID in deviceIDs {
                statement.bind(1, deviceID)
                try statement.forEachRow { row throws(RegistryError) in records.append(try record(row)) }
            }
            return records
        }
    }

    private func record(_ row: Statement) throws(RegistryError) -> DeviceRecord {
        let found = try decodeDevice(row)
        let datasets = try subscriptions(ofDevice: found.row)
        var record = DeviceRecord(
            device: found.device, datasetNames: datasets.datasetNames, includesFutureDatasets: datasets.includesFuture,
            badge: Int(row.integer(DeviceRow.columnCount + 1)))
        let topics = try statements.statement(
            """
            SELECT t.name FROM topic_subscription u CROSS JOIN topic t ON t.id = u.topic
            WHERE u.device = ? AND u.source & \(TopicSource.device) ORDER BY t.name
            """)
        topics.bind(1, found.row)
        try topics.forEachRow { row in record.topics.append(row.text(0)) }
        record.tokens = try furtherTokens(of: found.device.deviceID)
        return record
    }

    /// Makes devices be what their records say.
    public func replaceDevices(_ records: [DeviceRecord]) throws(RegistryError) {
        for record in records { try RegistryRules.check(record) }
        try register(records.map { NumberedRegistration($0) })
    }

    // MARK: Topics and subscriptions

    /// Subscribes users to topics.
    public func addTopicUsers(_ list: [TopicUser]) throws(RegistryError) {
        for item in list {
            try RegistryRules.checkTopic(item.topic)
            try RegistryRules.checkOwner(item.userID, app: item.app)
        }
        try writing(durable: true) { () throws(RegistryError) in
            for item in list { try addTopicUser(item) }
        }
    }

    /// The named subscriptions that exist.
    public func storedSubscriptions(_ keys: [SubscriptionKey]) throws(RegistryError) -> [StoredSubscription] {
        var found: [StoredSubscription] = []
        for key in keys {
            if let stored = try subscription(key) { found.append(stored) }
        }
        return found
    }
}
