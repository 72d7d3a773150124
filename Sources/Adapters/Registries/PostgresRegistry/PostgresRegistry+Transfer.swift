import Notifications
import PostgreSQL
public import RegistryCore
import RegistrySQL

extension PostgresRegistry: RegistryTransfer {
    // MARK: Devices

    /// Devices with everything that is theirs.
    public func deviceRecords(after deviceID: String?, limit: Int) throws(RegistryError) -> [DeviceRecord] {
        try deviceRecords(TransferCalls.devices(after: deviceID, limit: limit))
    }

    /// The named devices that exist.
    public func deviceRecords(named deviceIDs: [String]) throws(RegistryError) -> [DeviceRecord] {
        deviceIDs.isEmpty ? [] : try deviceRecords(TransferCalls.devices(deviceIDs))
    }

    private func deviceRecords(_ call: Call) throws(RegistryError) -> [DeviceRecord] {
        try rereading { () throws(RegistryError) in
            let rows = try ask([call])[0]
            let rests = try storedAddresses(in: rows, from: 0)
            return try rows.map { (row) throws(RegistryError) in
                try Self.record(row, try Self.decodeDevice(row, rests))
            }
        }
    }

    /// Puts a record together from a device and the columns behind it.
    private static func record(_ row: Row, _ device: Device) throws(RegistryError) -> DeviceRecord {
        let next = deviceColumnCount
        return DeviceRecord(
            device: device, datasetNames: list(row, next + 1), includesFutureDatasets: row.integer(next + 2) != 0,
            topics: list(row, next + 3), badge: Int(row.integer(next)),
            tokens: try list(row, next + 4).map { (text) throws(RegistryError) in
                guard let token = furtherToken(text, of: device.deviceID)
                else { throw row.corrupt("a further token of the device \"\(device.deviceID)\" is none") }
                return token
            })
    }

    /// Reads an array of texts, which the statement has joined with zero bytes.
    private static func list(_ row: Row, _ column: Int32) -> [String] {
        row.bytes(column).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads kind, digits and moment with blanks between.
    private static func furtherToken(_ text: String, of deviceID: String) -> FurtherToken? {
        let parts = text.split(separator: " ")
        guard parts.count == 3, let kind = TokenKind(rawValue: String(parts[0])),
            let token = DeviceToken(hexadecimal: parts[1]), let registeredAt = Int64(parts[2])
        else { return nil }
        return FurtherToken(deviceID: deviceID, kind: kind, token: token, registeredAtMilliseconds: registeredAt)
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
        guard !list.isEmpty else { return }
        try writing(durable: true) { (transaction) throws(RegistryError) in
            _ = try transaction.commit(
                [
                    Call(.lockUsers(list.map(\.userID), isShared: false)),
                    StoringCalls.addNames(Self.distinct(list.map(\.app)), to: .app),
                    Call(.addTopics(list.map { AppTopic($0.topic, app: $0.app) })),
                ] + StoringCalls.addTopicUsers(list, limit: quotas[.topicsPerOwner]))
        }
    }

    /// The named subscriptions that exist.
    public func storedSubscriptions(_ keys: [SubscriptionKey]) throws(RegistryError) -> [StoredSubscription] {
        keys.isEmpty ? [] : try ask([SubscriptionCalls.named(keys)])[0].map(wholeSubscription)
    }
}

/// The statements that move a registry.
enum TransferCalls {
    /// The named devices with everything that is theirs.
    static func devices(_ deviceIDs: [String]) -> Call {
        devices(named: "unnest($1::text[]) r(name)", [.texts(deviceIDs)])
    }

    /// A page of the devices in their order, with everything that is theirs.
    static func devices(after deviceID: String?, limit: Int) -> Call {
        // No identifier has a NUL, so what follows one makes no difference.
        let after = String(decoding: (deviceID ?? "").utf8.prefix { $0 != 0 }, as: UTF8.self)
        let page = """
            (SELECT x.device_id AS name FROM apus.device x WHERE x.device_id > $1::text
                ORDER BY x.device_id LIMIT $2::bigint) r
            """
        return devices(named: page, [.text(after), .integer(Int64(max(limit, 0)))])
    }

    /// Devices whose names are the rows `r(name)`.
    ///
    /// The columns of a device, badge, names of datasets, whether datasets to come are among them, topics, further
    /// tokens (kind, digits and moment with blanks between); lists are bytes, each name followed by a zero byte.
    private static func devices(named names: String, _ parameters: [Parameter]) -> Call {
        func list(_ name: String, _ from: String) -> String {
            // An empty aggregate is NULL, which reads as no name.
            "(SELECT string_agg(convert_to(\(name), 'UTF8') || '\\x00'::bytea, NULL ORDER BY \(name)) FROM \(from))"
        }
        let datasets = """
            dataset_subscription u JOIN apus.dataset_name s ON s.id = u.dataset_name
            WHERE u.device = d.id AND u.dataset_name <> \(Schema.futureDatasets)
            """
        let topics = """
            topic_subscription u JOIN apus.topic t ON t.id = u.topic WHERE u.device = d.id AND u.source & 1 <> 0
            """
        let token = "t.kind || ' ' || encode(t.token, 'hex') || ' ' || t.registered_at"
        return Call(
            """
            SELECT \(PostgresRegistry.deviceColumns), d.badge, \(list("s.name", datasets)),
                EXISTS (SELECT 1 FROM apus.dataset_subscription u WHERE u.identity = d.identity
                    AND u.dataset_name = \(Schema.futureDatasets) AND u.device = d.id),
                \(list("t.name", topics)), \(list(token, "device_token t WHERE t.device = d.id"))
            FROM \(names) JOIN apus.device d ON d.device_id = r.name \(PostgresRegistry.deviceNames)
            ORDER BY d.device_id
            """, parameters)
    }
}
