import Essentials
import Notifications
import RegistryCore
import RegistrySQL

/// The steps of registrations and subscriptions; all but the first are called in a write transaction.
extension SQLiteRegistry {
    /// Adds or renews devices as a plan says.
    @discardableResult
    func register(_ registrations: [NumberedRegistration], keepsApps: Bool = false) throws(RegistryError) -> Int {
        try requireSchema(forAddressesOf: registrations.lazy.map(\.device))
        return try writing(durable: true) { () throws(RegistryError) in
            let plan = try plan(registrations)
            guard !keepsApps || !plan.changesApps else { throw RegistryError.deviceOfAnotherApp }
            // SQLite compares addresses row by row.
            if case let rows = plan.rowsGivingWay, !rows.isEmpty {
                try run("UPDATE device SET token = randomblob(32) WHERE id \(among: rows)")
            }
            for statement in plan.statements { try run(statement) }
            try checkDevices("user_id", of: plan.newcomersToUsers)
            try checkDevices("identity", of: plan.newcomersToIdentities)
            for key in plan.learnedDatasets {
                let identity = try identities.identifierAdding(key.identityID)
                if try addDataset(pool: try pools.identifierAdding(key.identityPoolID), identity, key.datasetName) {
                    try checkDatasets(ofIdentity: identity)
                }
            }
            try addDatasetSubscriptions(plan.datasetSubscriptions)
            try addTopicSubscriptions(plan.topicSubscriptions, to: plan.topics)
            return plan.addedCount
        }
    }

    /// Adds the names of a batch, reads the devices that it may change, and plays it through.
    private func plan(_ registrations: [NumberedRegistration]) throws(RegistryError) -> RegistrationPlan {
        let statement = try statements.statement(
            """
            SELECT \(StoredDevice.columns) FROM device d WHERE d.device_id = ?1 OR (d.token = ?2 AND d.app = ?3)
            """)
        var numbered = registrations
        var stored: [StoredDevice] = []
        for (index, device) in registrations.lazy.map(\.device).enumerated() {
            numbered[index].app = try apps.identifierAdding(device.app)
            if let pool = device.identityPoolID, let identity = device.identityID {
                numbered[index].pool = try pools.identifierAdding(pool)
                numbered[index].identity = try identities.identifierAdding(identity)
            }
            statement.bind(1, device.deviceID)
            statement.bind(2, AddressKey(device.token, device.platform).bytes)
            statement.bind(3, numbered[index].app)
            try statement.forEachRow { row in stored.append(StoredDevice(row)) }
        }
        return RegistrationPlan(numbered, stored: stored)
    }

    /// The numbers of a device, or nil.
    func storedDevice(_ deviceID: String) throws(RegistryError) -> StoredDevice? {
        let statement = try statements.statement(
            "SELECT \(StoredDevice.columns) FROM device d WHERE d.device_id = ?")
        statement.bind(1, deviceID)
        defer { statement.reset() }
        return try statement.step() ? StoredDevice(statement) : nil
    }

    /// Makes a dataset known, and subscribes the devices that wait for datasets to come.
    ///
    /// - Returns: whether it was not known.
    func addDataset(pool: Int64, _ identity: Int64, _ name: String) throws(RegistryError) -> Bool {
        let datasetName = try datasetNames.identifierAdding(name)
        let insertion = try statements.statement(
            "INSERT OR IGNORE INTO dataset (identity, identity_pool, dataset_name) VALUES (?, ?, ?)")
        insertion.bind(1, identity)
        insertion.bind(2, pool)
        insertion.bind(3, datasetName)
        guard try insertion.run() > 0 else { return false }
        let subscription = try statements.statement(
            """
            INSERT OR IGNORE INTO dataset_subscription (identity, dataset_name, device, joined)
            SELECT u.identity, ?3, u.device, u.joined FROM dataset_subscription u CROSS JOIN device d ON d.id = u.device
            WHERE u.identity = ?1 AND u.dataset_name = \(Schema.futureDatasets) AND d.identity_pool = ?2
            """)
        subscription.bind(1, identity)
        subscription.bind(2, pool)
        subscription.bind(3, datasetName)
        try subscription.run()
        return true
    }

    /// Subscribes devices to datasets whose names have been added.
    func addDatasetSubscriptions(_ list: [DeviceSubscription]) throws(RegistryError) {
        let devices = try devices(addedBy: .addDatasetSubscriptions(list), limitedBy: .datasetsPerOwner)
        for device in devices { try checkDatasets(ofDevice: device) }
    }

    /// Subscribes devices to topics of their apps, which are added.
    func addTopicSubscriptions(_ list: [DeviceSubscription], to topics: [AppTopic]) throws(RegistryError) {
        try run(.addTopics(topics))
        let devices = try devices(addedBy: .addTopicSubscriptions(list), limitedBy: .topicsPerOwner)
        for device in devices { try checkTopics(ofDevice: device) }
    }

    /// Adds rows to devices.
    ///
    /// - Returns: the devices that have more than before; none if there is no quota that they could exceed.
    private func devices(
        addedBy insertion: SQLStatement, limitedBy quota: RegistryQuota
    ) throws(RegistryError) -> Set<Int64> {
        guard quotas[quota] != nil else {
            try run(insertion)
            return []
        }
        var insertion = insertion
        insertion += " RETURNING device"
        var devices: Set<Int64> = []
        try run(insertion) { row in devices.insert(row.integer(0)) }
        return devices
    }

    /// The number of a topic, or nil.
    func topic(_ name: String, app: Int64) throws(RegistryError) -> Int64? {
        let statement = try statements.statement("SELECT id FROM topic WHERE name = ? AND app = ?")
        statement.bind(1, name)
        statement.bind(2, app)
        return try statement.firstInteger()
    }
}
