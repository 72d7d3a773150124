import Essentials
public import Notifications
import PostgreSQL
public import RegistryCore
import RegistrySQL

extension PostgresRegistry {
    /// Remembers datasets, and subscribes the devices that wait for datasets to come.
    public func recordDatasets(_ datasets: [DatasetKey]) throws(RegistryError) {
        let named = datasets.filter { RegistryRules.isDatasetName($0.datasetName) }
        guard !named.isEmpty else { return }
        // Nearly always all datasets are known; then nothing is written.
        let rows = try ask([Self.unknown(named)])[0]
        let missing = rows.map { named[Int($0.integer(0)) - 1] }
        guard !missing.isEmpty else { return }
        try writing(durable: false) { (transaction) throws(RegistryError) in
            _ = try transaction.commit(Self.calls(toAdd: missing))
        }
    }

    /// Subscribes a device to a dataset of its identity.
    public func subscribe(_ deviceID: String, toDataset datasetName: String) throws(RegistryError) {
        try RegistryRules.checkDatasetName(datasetName)
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let owner = try ownerOfLockedDevice(deviceID, transaction)
            let key = DatasetKey(
                identityPoolID: owner.pool, identityID: owner.identity, datasetName: datasetName)
            try transaction.commit(
                Self.calls(toAdd: [key], limit: quotas[.datasetsPerOwner]) + [
                    StoringCalls.addDatasetSubscriptions(
                        [DeviceSubscription(deviceID, to: datasetName)], limit: quotas[.datasetsPerOwner])
                ])
        }
    }

    /// Ends a dataset subscription.
    public func unsubscribe(_ deviceID: String, fromDataset datasetName: String) throws(RegistryError) -> Bool {
        guard RegistryRules.isDatasetName(datasetName) else { return false }
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            try transaction.commit([Self.removal(deviceID, datasetName)])[0].affectedCount > 0
        }
    }

    /// Subscribes a device to all known datasets of its identity, or some of them.
    public func subscribeToAllDatasets(
        _ deviceID: String, names: [String]?, includingFuture: Bool
    ) throws(RegistryError) -> [String] {
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let owner = try ownerOfLockedDevice(deviceID, transaction)
            let known = try Self.texts(transaction.run([Self.knownDatasets(owner)])[0])
            let knownNames = Set(known.map(ByteText.init))
            for name in names ?? [] where !knownNames.contains(ByteText(name)) {
                throw RegistryError.noDataset(name, of: deviceID)
            }
            let future =
                includingFuture
                ? Call(.addDatasetSubscriptions([DeviceSubscription(deviceID, to: Self.futureName)]))
                : Self.removal(deviceID, Self.futureName)
            let answers = try transaction.commit([
                StoringCalls.addDatasetSubscriptions(
                    (names ?? known).map { DeviceSubscription(deviceID, to: $0) }, limit: quotas[.datasetsPerOwner]),
                future,
                Self.subscriptions(of: deviceID),
            ])
            return Self.decodeSubscriptions(answers[2])?.datasetNames ?? []
        }
    }

    /// Subscribes a device to a topic of its app.
    public func subscribe(_ deviceID: String, toTopic topic: String) throws(RegistryError) {
        try RegistryRules.checkTopic(topic)
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let found = try transaction.run([StoringCalls.lockDevice(deviceID)])[0]
            guard found.count > 0 else { throw RegistryError.noDevice(deviceID) }
            try transaction.commit([
                StoringCalls.addTopic(topic, ofAppOf: deviceID),
                StoringCalls.addTopicSubscriptions(
                    [DeviceSubscription(deviceID, to: topic)], limit: quotas[.topicsPerOwner]),
            ])
        }
    }

    // MARK: Steps

    /// The name that stands for datasets to come.
    private static let futureName = NumberedRegistration.futureDatasets

    private struct Owner {
        let pool: String
        let identity: String
    }

    /// The identity of a device; both are locked until the transaction ends.
    private func ownerOfLockedDevice(
        _ deviceID: String, _ transaction: Transaction
    ) throws(RegistryError) -> Owner {
        // The identity first, as registrations do it.
        let answers = try transaction.run([
            StoringCalls.lockIdentity(of: deviceID), StoringCalls.lockDevice(deviceID), Self.owner(of: deviceID),
        ])
        guard let device = answers[1].first.map({ StoredDevice($0) }) else { throw RegistryError.noDevice(deviceID) }
        guard device.identity != nil else { throw RegistryError.withoutIdentity(deviceID) }
        guard answers[0].count > 0, answers[0].integer(0, 0) == device.identity, answers[2].count > 0
        else { throw RegistryError.conflict }
        return Owner(pool: answers[2].text(0, 0), identity: answers[2].text(0, 1))
    }

    private static func owner(of deviceID: String) -> Call {
        Call(
            """
            SELECT p.name, n.name FROM apus.device d JOIN apus.identity_pool p ON p.id = d.identity_pool
            JOIN apus.identity n ON n.id = d.identity WHERE d.device_id = $1::text
            """, [.text(deviceID)])
    }

    /// The calls that add datasets.
    private static func calls(toAdd keys: [DatasetKey], limit: Int? = nil) -> [Call] {
        let identities = distinct(keys.map(\.identityID))
        return [
            StoringCalls.addNames(distinct(keys.map(\.identityPoolID)), to: .pool),
            StoringCalls.addNames(identities, to: .identity),
            StoringCalls.addNames(distinct(keys.map(\.datasetName)), to: .datasetName),
            StoringCalls.lockIdentities(identities), StoringCalls.addDatasets(keys, limit: limit),
        ]
    }

    /// The unknown datasets, by their index from 1.
    private static func unknown(_ keys: [DatasetKey]) -> Call {
        Call(
            """
            SELECT r.k FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY r(pool, identity, name, k)
            WHERE NOT EXISTS (
                SELECT 1 FROM apus.identity n JOIN apus.dataset x ON x.identity = n.id
                WHERE n.name = r.identity
                    AND x.identity_pool = (SELECT p.id FROM apus.identity_pool p WHERE p.name = r.pool)
                    AND x.dataset_name = (SELECT s.id FROM apus.dataset_name s WHERE s.name = r.name))
            ORDER BY r.k
            """,
            [
                .texts(keys.map(\.identityPoolID)), .texts(keys.map(\.identityID)), .texts(keys.map(\.datasetName)),
            ])
    }

    private static func knownDatasets(_ owner: Owner) -> Call {
        Call(
            """
            SELECT s.name FROM apus.identity n JOIN apus.identity_pool p ON p.name = $2::text
            JOIN apus.dataset k ON k.identity = n.id AND k.identity_pool = p.id
            JOIN apus.dataset_name s ON s.id = k.dataset_name WHERE n.name = $1::text
            """, [.text(owner.identity), .text(owner.pool)])
    }

    private static func removal(_ deviceID: String, _ name: String) -> Call {
        Call(
            """
            DELETE FROM apus.dataset_subscription u USING apus.device d, apus.dataset_name s
            WHERE d.device_id = $1::text AND s.name = $2::text
                AND u.identity = d.identity AND u.dataset_name = s.id AND u.device = d.id
            """, [.text(deviceID), .text(name)])
    }

    /// One row for each subscription, one without a name for a device that has none, no row if there is no device.
    private static func subscriptions(of deviceID: String) -> Call {
        Call(
            """
            SELECT s.name, s.id::bigint FROM apus.device d
            LEFT JOIN apus.dataset_subscription u ON u.device = d.id
            LEFT JOIN apus.dataset_name s ON s.id = u.dataset_name
            WHERE d.device_id = $1::text ORDER BY s.name
            """, [.text(deviceID)])
    }

    private static func decodeSubscriptions(_ rows: Rows) -> DatasetSubscriptions? {
        guard rows.count > 0 else { return nil }
        var subscriptions = DatasetSubscriptions(datasetNames: [], includesFuture: false)
        for row in rows {
            guard let name = row.optionalText(0) else { continue }
            if row.integer(1) == Schema.futureDatasets {
                subscriptions.includesFuture = true
            } else {
                subscriptions.datasetNames.append(name)
            }
        }
        return subscriptions
    }

    private static func texts(_ rows: Rows) -> [String] { rows.map { $0.text(0) } }
}
