public import Notifications
public import PushCore

extension PostgresRegistry: RegistryTransfer {
    // MARK: Devices

    /// Devices with everything that is theirs.
    public func deviceRecords(after deviceID: String?, limit: Int) throws(RegistryError) -> [DeviceRecord] {
        try deviceRecords(TransferCalls.devices(after: deviceID, limit: limit))
    }

    /// Those of the named devices that are there.
    public func deviceRecords(named deviceIDs: [String]) throws(RegistryError) -> [DeviceRecord] {
        deviceIDs.isEmpty ? [] : try deviceRecords(TransferCalls.devices(deviceIDs))
    }

    private func deviceRecords(_ call: Call) throws(RegistryError) -> [DeviceRecord] {
        try ask([call])[0].map { (row) throws(RegistryError) in
            let device = try Self.decodeDevice(row)
            let next = Self.deviceColumnCount
            return DeviceRecord(
                device: device, datasetNames: Self.list(row, next + 1),
                includesFutureDatasets: row.integer(next + 2) != 0, topics: Self.list(row, next + 3),
                badge: Int(row.integer(next)),
                tokens: try Self.list(row, next + 4).map { (text) throws(RegistryError) in
                    guard let token = Self.furtherToken(text, of: device.deviceID)
                    else { throw row.corrupt("a further token of the device \"\(device.deviceID)\" is none") }
                    return token
                })
        }
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
        let registrations = records.map {
            DeviceRegistration(device: $0.device, datasetNames: $0.datasetNames, topics: $0.topics)
        }
        for registration in registrations { try RegistryRules.check(registration) }
        for record in records { for token in record.tokens { try RegistryRules.check(token, of: record.device) } }
        guard !records.isEmpty else { return }
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let (numbered, stored) = try prepare(registrations, transaction)
            let bare = numbered.map { item in
                NumberedRegistration(
                    registration: DeviceRegistration(device: item.registration.device), app: item.app,
                    pool: item.pool, identity: item.identity)
            }
            let full = RegistrationPlan(numbered, stored: stored)
            try carryOut(
                RegistrationPlan(bare, stored: stored), transaction, then: TransferCalls.fill(records, full))
        }
    }

    // MARK: Names

    /// The datasets that the registry knows.
    public func knownDatasets(after key: DatasetKey?, limit: Int) throws(RegistryError) -> [DatasetKey] {
        let call = Call(
            """
            SELECT n.name, p.name, s.name FROM identity n JOIN dataset k ON k.identity = n.id
            JOIN identity_pool p ON p.id = k.identity_pool JOIN dataset_name s ON s.id = k.dataset_name
            WHERE n.name >= $1::text AND (n.name, p.name, s.name) > ($1::text, $2::text, $3::text)
            ORDER BY n.name, p.name, s.name LIMIT $4::bigint
            """,
            [
                .text(key?.identityID ?? ""), .text(key?.identityPoolID ?? ""), .text(key?.datasetName ?? ""),
                .integer(Int64(max(limit, 0))),
            ])
        return try ask([call])[0].map { row in
            DatasetKey(identityPoolID: row.text(1), identityID: row.text(0), datasetName: row.text(2))
        }
    }

    /// The users' subscriptions to topics.
    public func topicUsers(after last: TopicUser?, limit: Int) throws(RegistryError) -> [TopicUser] {
        let call = Call(
            """
            SELECT x.user_id, a.name, t.name FROM topic_user x JOIN topic t ON t.id = x.topic
            JOIN app a ON a.id = t.app
            WHERE x.user_id >= $1::text AND (x.user_id, a.name, t.name) > ($1::text, $2::text, $3::text)
            ORDER BY x.user_id, a.name, t.name LIMIT $4::bigint
            """,
            [
                .text(last?.userID ?? ""), .text(last?.app ?? ""), .text(last?.topic ?? ""),
                .integer(Int64(max(limit, 0))),
            ])
        return try ask([call])[0].map { TopicUser(userID: $0.text(0), app: $0.text(1), topic: $0.text(2)) }
    }

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
                    StoringCalls.lockUsers(list.map(\.userID), isShared: false),
                    StoringCalls.addNames(Self.distinct(list.map(\.app)), to: .app),
                    StoringCalls.addTopics(list.map { ($0.topic, $0.app) }),
                ] + StoringCalls.addTopicUsers(list, limit: quotas[.topicsPerOwner]))
        }
    }

    // MARK: Subscriptions and configurations

    /// Those of the subscriptions to records that are there.
    public func storedSubscriptions(_ keys: [SubscriptionKey]) throws(RegistryError) -> [StoredSubscription] {
        keys.isEmpty ? [] : try ask([SubscriptionCalls.named(keys)])[0].map(wholeSubscription)
    }

    /// All configurations of identity pools.
    public func poolConfigurations() throws(RegistryError) -> [PoolConfiguration] {
        try ask([Call("SELECT identity_pool, content FROM pool_configuration ORDER BY identity_pool")])[0].map { row in
            PoolConfiguration(identityPoolID: row.text(0), json: row.bytes(1))
        }
    }
}
