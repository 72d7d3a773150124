import Essentials
public import Notifications
public import RegistryCore
import RegistrySQL

extension SQLiteRegistry {
    /// Remembers datasets, and subscribes the devices that wait for datasets to come.
    public func recordDatasets(_ datasets: [DatasetKey]) throws(RegistryError) {
        // Nearly always all are known; then there is no wait for a writer.
        let missing = try reading { () throws(RegistryError) in try unknown(datasets) }
        guard !missing.isEmpty else { return }
        try writing(durable: false) { () throws(RegistryError) in
            for key in missing {
                _ = try addDataset(
                    pool: try pools.identifierAdding(key.identityPoolID),
                    try identities.identifierAdding(key.identityID), key.datasetName)
            }
        }
    }

    /// Subscribes a device to a dataset of its identity.
    public func subscribe(_ deviceID: String, toDataset datasetName: String) throws(RegistryError) {
        try RegistryRules.checkDatasetName(datasetName)
        try writing(durable: true) { () throws(RegistryError) in
            let device = try deviceWithIdentity(deviceID)
            if let pool = device.pool, let identity = device.identity,
                try addDataset(pool: pool, identity, datasetName)
            {
                try checkDatasets(ofIdentity: identity)
            }
            try addDatasetSubscriptions([DeviceSubscription(deviceID, to: datasetName)])
        }
    }

    /// Ends a dataset subscription.
    public func unsubscribe(_ deviceID: String, fromDataset datasetName: String) throws(RegistryError) -> Bool {
        guard RegistryRules.isDatasetName(datasetName) else { return false }
        return try writing(durable: true) { () throws(RegistryError) in
            guard let device = try storedDevice(deviceID), let name = try datasetNames.identifier(of: datasetName)
            else { return false }
            return try removeSubscription(device, fromDatasetName: name)
        }
    }

    /// Subscribes a device to all known datasets of its identity, or some of them.
    public func subscribeToAllDatasets(
        _ deviceID: String, names: [String]?, includingFuture: Bool
    ) throws(RegistryError) -> [String] {
        try writing(durable: true) { () throws(RegistryError) in
            let device = try deviceWithIdentity(deviceID)
            let known = try knownDatasets(of: device)
            for name in names ?? [] where !known.contains(ByteText(name)) {
                throw RegistryError.noDataset(name, of: deviceID)
            }
            var subscribed = names ?? known.map(\.text)
            if includingFuture {
                subscribed.append(NumberedRegistration.futureDatasets)
            } else {
                _ = try removeSubscription(device, fromDatasetName: Schema.futureDatasets)
            }
            try addDatasetSubscriptions(subscribed.map { DeviceSubscription(deviceID, to: $0) })
            return try subscriptions(ofDevice: device.row).datasetNames
        }
    }

    /// The datasets that the registry does not know yet.
    private func unknown(_ datasets: [DatasetKey]) throws(RegistryError) -> [DatasetKey] {
        let buffer = ProbeBuffer()
        var missing: [DatasetKey] = []
        func flush() throws(RegistryError) {
            try queries.unknownDataset.run(buffer) { index, _ in
                missing.append(datasets[buffer.probes[index].request])
                return true
            }
            buffer.removeAll()
        }
        for (index, key) in datasets.enumerated() where RegistryRules.isDatasetName(key.datasetName) {
            let pool = try pools.identifier(of: key.identityPoolID) ?? AudienceResolution.unknown
            let name = try datasetNames.identifier(of: key.datasetName) ?? AudienceResolution.unknown
            buffer.append(request: index, name: key.identityID.utf8, numbers: (pool, name, 0, 0))
            if buffer.isFull { try flush() }
        }
        try flush()
        return missing
    }

    /// Ends a subscription by the number of the dataset's name.
    private func removeSubscription(
        _ device: StoredDevice, fromDatasetName datasetName: Int64
    ) throws(RegistryError) -> Bool {
        guard let identity = device.identity else { return false }
        let statement = try statements.statement(
            "DELETE FROM dataset_subscription WHERE identity = ? AND dataset_name = ? AND device = ?")
        statement.bind(1, identity)
        statement.bind(2, datasetName)
        statement.bind(3, device.row)
        return try statement.run() > 0
    }

    private func deviceWithIdentity(_ deviceID: String) throws(RegistryError) -> StoredDevice {
        guard let device = try storedDevice(deviceID) else { throw RegistryError.noDevice(deviceID) }
        guard device.identity != nil else { throw RegistryError.withoutIdentity(deviceID) }
        return device
    }

    private func knownDatasets(of device: StoredDevice) throws(RegistryError) -> Set<ByteText> {
        let statement = try statements.statement(
            """
            SELECT s.name FROM dataset k CROSS JOIN dataset_name s ON s.id = k.dataset_name
            WHERE k.identity = ? AND k.identity_pool = ?
            """)
        statement.bind(1, device.identity)
        statement.bind(2, device.pool)
        var known: Set<ByteText> = []
        try statement.forEachRow { row in known.insert(ByteText(row.text(0))) }
        return known
    }

    /// The datasets that a device subscribes to, in a transaction.
    func subscriptions(ofDevice row: Int64) throws(RegistryError) -> DatasetSubscriptions {
        let statement = try statements.statement(
            """
            SELECT s.name, s.id FROM dataset_subscription u CROSS JOIN dataset_name s ON s.id = u.dataset_name
            WHERE u.device = ? ORDER BY s.name
            """)
        statement.bind(1, row)
        var subscriptions = DatasetSubscriptions(datasetNames: [], includesFuture: false)
        try statement.forEachRow { row throws(RegistryError) in
            if row.integer(1) == Schema.futureDatasets {
                subscriptions.includesFuture = true
            } else {
                subscriptions.datasetNames.append(row.text(0))
            }
        }
        return subscriptions
    }
}
