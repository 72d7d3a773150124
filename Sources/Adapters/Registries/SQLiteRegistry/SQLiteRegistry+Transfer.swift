public import Notifications
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
        let datasets = try subscriptions(of: found.stored)
        var record = DeviceRecord(
            device: found.device, datasetNames: datasets.datasetNames, includesFutureDatasets: datasets.includesFuture,
            badge: Int(row.integer(DeviceRow.columnCount + 1)))
        let topics = try statements.statement(
            """
            SELECT t.name FROM topic_subscription u CROSS JOIN topic t ON t.id = u.topic
            WHERE u.device = ? AND u.source & \(TopicSource.device) ORDER BY t.name
            """)
        topics.bind(1, found.stored.row)
        try topics.forEachRow { row in record.topics.append(row.text(0)) }
        record.tokens = try furtherTokens(of: found.device.deviceID)
        return record
    }

    /// Makes devices be what their records say.
    public func replaceDevices(_ records: [DeviceRecord]) throws(RegistryError) {
        for record in records {
            try RegistryRules.check(
                DeviceRegistration(device: record.device, datasetNames: record.datasetNames, topics: record.topics))
            for token in record.tokens { try RegistryRules.check(token, of: record.device) }
        }
        try requireSchema(forAddressesOf: records.lazy.map(\.device))
        try writing(durable: true) { () throws(RegistryError) in
            for record in records { try replace(record) }
        }
    }

    private func replace(_ record: DeviceRecord) throws(RegistryError) {
        let stored = try store(record.device)
        try run("DELETE FROM dataset_subscription WHERE device = ?", stored.row)
        try run("UPDATE topic_subscription SET source = source & ~\(TopicSource.device) WHERE device = ?", stored.row)
        try run("DELETE FROM topic_subscription WHERE device = ? AND source = 0", stored.row)
        for name in record.datasetNames { try addSubscription(stored, toDataset: name) }
        if record.includesFutureDatasets { try addSubscription(stored, toDatasetName: Schema.futureDatasets) }
        for topic in record.topics { try addSubscription(stored, toTopic: topic) }
        try run("DELETE FROM device_token WHERE device = ?", stored.row)
        for token in record.tokens { try save(token) }
        let badge = try statements.statement("UPDATE device SET badge = ?2 WHERE id = ?1")
        badge.bind(1, stored.row)
        badge.bind(2, Int64(record.badge))
        try badge.run()
    }

    // MARK: Names

    /// The datasets that the registry knows.
    public func knownDatasets(after key: DatasetKey?, limit: Int) throws(RegistryError) -> [DatasetKey] {
        try names(
            """
            SELECT n.name, p.name, s.name FROM identity n CROSS JOIN dataset k ON k.identity = n.id
            CROSS JOIN identity_pool p ON p.id = k.identity_pool
            CROSS JOIN dataset_name s ON s.id = k.dataset_name
            WHERE n.name >= ?1 AND (n.name, p.name, s.name) > (?1, ?2, ?3)
            ORDER BY n.name, p.name, s.name LIMIT ?4
            """, after: key.map { ($0.identityID, $0.identityPoolID, $0.datasetName) }, limit: limit
        ) { DatasetKey(identityPoolID: $1, identityID: $0, datasetName: $2) }
    }

    /// The users' subscriptions to topics.
    public func topicUsers(after last: TopicUser?, limit: Int) throws(RegistryError) -> [TopicUser] {
        try names(
            """
            SELECT x.user_id, a.name, t.name FROM topic_user x CROSS JOIN topic t ON t.id = x.topic
            CROSS JOIN app a ON a.id = t.app
            WHERE x.user_id >= ?1 AND (x.user_id, a.name, t.name) > (?1, ?2, ?3)
            ORDER BY x.user_id, a.name, t.name LIMIT ?4
            """, after: last.map { ($0.userID, $0.app, $0.topic) }, limit: limit
        ) { TopicUser(userID: $0, app: $1, topic: $2) }
    }

    /// Reads a page of what three names tell apart, in their order.
    private func names<Element>(
        _ query: String, after last: (String, String, String)?, limit: Int,
        _ element: (String, String, String) -> Element
    ) throws(RegistryError) -> [Element] {
        try reading { () throws(RegistryError) in
            let statement = try statements.statement(query)
            statement.bind(1, last?.0 ?? "")
            statement.bind(2, last?.1 ?? "")
            statement.bind(3, last?.2 ?? "")
            statement.bind(4, Int64(max(limit, 0)))
            var page: [Element] = []
            try statement.forEachRow { row in page.append(element(row.text(0), row.text(1), row.text(2))) }
            return page
        }
    }

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

    // MARK: Subscriptions and configurations

    /// The named subscriptions that exist.
    public func storedSubscriptions(_ keys: [SubscriptionKey]) throws(RegistryError) -> [StoredSubscription] {
        var found: [StoredSubscription] = []
        for key in keys {
            if let stored = try subscription(key) { found.append(stored) }
        }
        return found
    }

    /// All configurations of identity pools.
    public func poolConfigurations() throws(RegistryError) -> [PoolConfiguration] {
        let statement = try statements.statement(
            "SELECT identity_pool, content FROM pool_configuration ORDER BY identity_pool")
        var list: [PoolConfiguration] = []
        try statement.forEachRow { row in
            list.append(PoolConfiguration(identityPoolID: row.text(0), json: row.bytes(1)))
        }
        return list
    }
}
