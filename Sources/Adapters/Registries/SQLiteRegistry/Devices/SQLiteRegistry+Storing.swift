import Essentials
import Notifications
import RegistryCore
import RegistrySQL

/// The steps of registrations and subscriptions; each is called in a write transaction.
extension SQLiteRegistry {
    /// Adds or renews a device.
    func store(_ device: Device) throws(RegistryError) -> StoredDevice {
        let app = try apps.identifierAdding(device.app)
        var pool: Int64?
        var identity: Int64?
        if let poolName = device.identityPoolID, let identityName = device.identityID {
            pool = try pools.identifierAdding(poolName)
            identity = try identities.identifierAdding(identityName)
        }
        try removeOtherDevices(than: device, app: app)
        guard let old = try storedDevice(device.deviceID) else {
            let stored = try insert(
                device,
                StoredDevice(
                    row: 0, app: app, pool: pool, identity: identity, userID: device.userID, hasAddressRest: false))
            try storeAddressRest(
                AddressRest(device.token, device.platform), of: stored.row, hadOne: stored.hasAddressRest)
            if device.userID != nil { try inheritTopics(device: stored.row) }
            try checkDevices(of: stored, before: nil)
            return stored
        }
        let new = StoredDevice(
            row: old.row, app: app, pool: pool, identity: identity, userID: device.userID,
            hasAddressRest: old.hasAddressRest)
        try update(device, new)
        try storeAddressRest(
            AddressRest(device.token, device.platform), of: new.row, hadOne: new.hasAddressRest)
        if old.identity != new.identity || old.pool != new.pool {
            try run("DELETE FROM dataset_subscription WHERE device = ?", new.row)
        }
        if old.app != new.app {
            try run("DELETE FROM topic_subscription WHERE device = ?", new.row)
            try run("DELETE FROM subscription WHERE device = ?", new.row)
        }
        if old.app != new.app || !device.platform.isAPNs {
            try run("DELETE FROM device_token WHERE device = ?", new.row)
        }
        if old != new {
            try run("UPDATE device SET joined = \(Schema.newestFanOut) WHERE id = ?", new.row)
            try checkDevices(of: new, before: old)
        }
        if !old.userID.hasBytes(of: new.userID) || old.app != new.app {
            try disinheritTopics(device: new.row)
            try inheritTopics(device: new.row)
        }
        return new
    }

    /// The numbers of a device, or nil.
    func storedDevice(_ deviceID: String) throws(RegistryError) -> StoredDevice? {
        let statement = try statements.statement(
            """
            SELECT d.id, d.app, d.identity_pool, d.identity, d.user_id, \(Recipient.readColumns) FROM device d
            WHERE d.device_id = ?
            """)
        statement.bind(1, deviceID)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return StoredDevice(
            row: statement.integer(0), app: statement.integer(1), pool: statement.optionalInteger(2),
            identity: statement.optionalInteger(3), userID: statement.optionalText(4),
            hasAddressRest: Recipient.hasAddressRest(statement, from: 5))
    }

    /// Makes a dataset known, and subscribes the devices that wait for datasets to come.
    ///
    /// - Returns: the number of the dataset's name, and whether the dataset was not known.
    @discardableResult
    func addDataset(
        pool: Int64, identity: Int64, name: String
    ) throws(RegistryError) -> (name: Int64, isNew: Bool) {
        let datasetName = try datasetNames.identifierAdding(name)
        let insertion = try statements.statement(
            "INSERT OR IGNORE INTO dataset (identity, identity_pool, dataset_name) VALUES (?, ?, ?)")
        insertion.bind(1, identity)
        insertion.bind(2, pool)
        insertion.bind(3, datasetName)
        guard try insertion.run() > 0 else { return (datasetName, false) }
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
        return (datasetName, true)
    }

    /// Subscribes a device to a dataset, which is known afterwards.
    func addSubscription(_ device: StoredDevice, toDataset name: String) throws(RegistryError) {
        guard let pool = device.pool, let identity = device.identity else { return }
        let (datasetName, isNew) = try addDataset(pool: pool, identity: identity, name: name)
        if isNew { try checkDatasets(ofIdentity: identity) }
        try addSubscription(device, toDatasetName: datasetName)
    }

    /// Subscribes a device to a dataset by the number of its name.
    func addSubscription(_ device: StoredDevice, toDatasetName datasetName: Int64) throws(RegistryError) {
        guard let identity = device.identity else { return }
        let statement = try statements.statement(
            """
            INSERT OR IGNORE INTO dataset_subscription (identity, dataset_name, device, joined)
            VALUES (?, ?, ?, \(Schema.newestFanOut))
            """)
        statement.bind(1, identity)
        statement.bind(2, datasetName)
        statement.bind(3, device.row)
        if try statement.run() > 0 { try checkDatasets(ofDevice: device.row) }
    }

    /// Ends a subscription by the number of the dataset's name.
    func removeSubscription(_ device: StoredDevice, fromDatasetName datasetName: Int64) throws(RegistryError) -> Bool {
        guard let identity = device.identity else { return false }
        let statement = try statements.statement(
            "DELETE FROM dataset_subscription WHERE identity = ? AND dataset_name = ? AND device = ?")
        statement.bind(1, identity)
        statement.bind(2, datasetName)
        statement.bind(3, device.row)
        return try statement.run() > 0
    }

    /// Subscribes a device to a topic of its app.
    func addSubscription(_ device: StoredDevice, toTopic name: String) throws(RegistryError) {
        let topic = try topicAdding(name, app: device.app)
        let statement = try statements.statement(
            """
            INSERT INTO topic_subscription (topic, device, source, joined)
            VALUES (?, ?, \(TopicSource.device), \(Schema.newestFanOut))
            ON CONFLICT DO UPDATE SET source = source | excluded.source WHERE source & excluded.source = 0
            """)
        statement.bind(1, topic)
        statement.bind(2, device.row)
        if try statement.run() > 0 { try checkTopics(ofDevice: device.row) }
    }

    /// The number of a topic, or nil.
    func topic(_ name: String, app: Int64) throws(RegistryError) -> Int64? {
        let statement = try statements.statement("SELECT id FROM topic WHERE name = ? AND app = ?")
        statement.bind(1, name)
        statement.bind(2, app)
        return try statement.firstInteger()
    }

    /// The number of a topic, which is added if there is none.
    func topicAdding(_ name: String, app: Int64) throws(RegistryError) -> Int64 {
        if let known = try topic(name, app: app) { return known }
        let statement = try statements.statement("INSERT INTO topic (name, app) VALUES (?, ?)")
        statement.bind(1, name)
        statement.bind(2, app)
        try statement.run()
        return connection.lastInsertedRow
    }

    /// Removes the device that had the address of this one in its app.
    private func removeOtherDevices(than device: Device, app: Int64) throws(RegistryError) {
        let statement = try statements.statement(
            "DELETE FROM device WHERE token = ? AND app = ? AND device_id <> ?")
        statement.bind(1, AddressKey(device.token, device.platform).bytes)
        statement.bind(2, app)
        statement.bind(3, device.deviceID)
        try statement.run()
    }

    /// Keeps what the key of a device's address has no room for, or forgets what it had no room for before.
    func storeAddressRest(_ rest: AddressRest?, of row: Int64, hadOne: Bool) throws(RegistryError) {
        guard let rest else {
            if hadOne { try run("DELETE FROM device_address WHERE device = ?", row) }
            return
        }
        let columns = AddressRest.storedColumns
        let statement = try statements.statement(
            """
            INSERT OR REPLACE INTO device_address (device, \(columns.names()))
            VALUES (?1, \(columns.parameters(from: 2)))
            """)
        statement.bind(1, row)
        statement.bind(columns, of: rest, from: 2)
        try statement.run()
    }

    private func insert(_ device: Device, _ stored: StoredDevice) throws(RegistryError) -> StoredDevice {
        let statement = try statements.statement(Self.insertionOfDevice)
        bind(statement, device, stored)
        try statement.run()
        var stored = stored
        stored.row = connection.lastInsertedRow
        return stored
    }

    private static let insertionOfDevice = """
        INSERT INTO device (app, identity_pool, identity, \(Device.storedColumns.names()), joined)
        VALUES (?1, ?2, ?3, \(Device.storedColumns.parameters(from: 4)), \(Schema.newestFanOut))
        """

    private func update(_ device: Device, _ stored: StoredDevice) throws(RegistryError) {
        let statement = try statements.statement(Self.updateOfDevice)
        bind(statement, device, stored)
        try statement.run()
    }

    // The identifier is not changed, so its index is not written.
    private static let updateOfDevice = """
        UPDATE device SET app = ?1, identity_pool = ?2, identity = ?3,
            \(Device.storedColumns.assignments(from: 4, without: "device_id"))
        WHERE device_id = ?4
        """

    private func bind(_ statement: Statement, _ device: Device, _ stored: StoredDevice) {
        statement.bind(1, stored.app)
        statement.bind(2, stored.pool)
        statement.bind(3, stored.identity)
        statement.bind(Device.storedColumns, of: device, from: 4)
    }

    /// Runs a statement about one row.
    func run(_ sql: String, _ row: Int64) throws(RegistryError) {
        let statement = try statements.statement(sql)
        statement.bind(1, row)
        try statement.run()
    }
}
