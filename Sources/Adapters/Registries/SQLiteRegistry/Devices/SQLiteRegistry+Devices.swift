public import Notifications
public import RegistryCore
import RegistrySQL

extension SQLiteRegistry {
    /// Adds or renews devices and subscribes them, all or none.
    public func register(_ registrations: [DeviceRegistration], keepsApps: Bool) throws(RegistryError) -> Int {
        for registration in registrations { try RegistryRules.check(registration) }
        return try register(registrations.map { NumberedRegistration($0) }, keepsApps: keepsApps)
    }

    /// One device, or nil.
    public func device(_ deviceID: String) throws(RegistryError) -> Device? {
        try reading { () throws(RegistryError) in
            let statement = try statements.statement(
                """
                SELECT \(DeviceRow.columns), n.name FROM device d LEFT JOIN identity n ON n.id = d.identity
                WHERE d.device_id = ?
                """)
            statement.bind(1, deviceID)
            defer { statement.reset() }
            guard try statement.step() else { return nil }
            return try decodeDevice(statement).device
        }
    }

    /// The owners of devices, and the moments of their alert tokens.
    public func registrations(of deviceIDs: [String]) throws(RegistryError) -> [TokenRegistration?] {
        try reading { () throws(RegistryError) in
            try deviceIDs.map { deviceID throws(RegistryError) in
                let statement = try statements.statement(
                    """
                    SELECT n.name, d.user_id, d.registered_at FROM device d LEFT JOIN identity n ON n.id = d.identity
                    WHERE d.device_id = ?
                    """)
                statement.bind(1, deviceID)
                defer { statement.reset() }
                guard try statement.step() else { return nil }
                return TokenRegistration(
                    identityID: statement.optionalText(0), userID: statement.optionalText(1),
                    atMilliseconds: statement.integer(2))
            }
        }
    }

    /// The device of an app that has an address, or nil.
    public func device(at token: DeviceToken, platform: Platform, app: String) throws(RegistryError) -> Device? {
        try reading { () throws(RegistryError) in
            let statement = try statements.statement(
                """
                SELECT \(DeviceRow.columns), n.name FROM device d LEFT JOIN identity n ON n.id = d.identity
                WHERE d.token = ? AND d.app = (SELECT id FROM app WHERE name = ?)
                """)
            statement.bind(1, AddressKey(token, platform).bytes)
            statement.bind(2, app)
            defer { statement.reset() }
            guard try statement.step() else { return nil }
            return try decodeDevice(statement).device
        }
    }

    /// Devices in the order of their identifiers.
    public func devices(
        matching filter: DeviceFilter, after deviceID: String?, limit: Int
    ) throws(RegistryError) -> [Device] {
        try reading { () throws(RegistryError) in
            let statement = try statements.statement(Self.listSQL(filter))
            statement.bind(1, deviceID ?? "")
            statement.bind(2, filter.app)
            statement.bind(3, filter.identityID)
            statement.bind(4, filter.userID)
            statement.bind(5, Int64(max(limit, 0)))
            var devices: [Device] = []
            try statement.forEachRow { row throws(RegistryError) in
                devices.append(try decodeDevice(row).device)
            }
            return devices
        }
    }

    /// How many devices there are.
    public func deviceCount() throws(RegistryError) -> Int {
        Int(try statements.statement("SELECT count(*) FROM device").firstInteger() ?? 0)
    }

    // The plus sign keeps SQLite from walking all devices in order when an identity or user names a few.
    private static func listSQL(_ filter: DeviceFilter) -> String {
        var conditions = ["1"]
        if filter.app != nil { conditions.append("d.app = (SELECT id FROM app WHERE name = ?2)") }
        if filter.identityID != nil {
            conditions.append("d.identity = (SELECT id FROM identity WHERE name = ?3)")
        }
        if filter.userID != nil { conditions.append("d.user_id = ?4") }
        let isNarrow = filter.identityID != nil || filter.userID != nil
        let order = isNarrow ? "+d.device_id" : "d.device_id"
        return """
            SELECT \(DeviceRow.columns), n.name FROM device d LEFT JOIN identity n ON n.id = d.identity
            WHERE \(order) > ?1 AND \(conditions.joined(separator: " AND "))
            ORDER BY \(order) LIMIT ?5
            """
    }
}

extension SQLiteRegistry {
    /// Reads the columns of `DeviceRow.columns`, and the identity's name from the column that follows them.
    ///
    /// - Parameters:
    ///   - row: a statement that stands on a row.
    ///   - first: where the columns begin.
    /// - Returns: the device with its numbers.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device.
    func decodeDevice(_ row: Statement, from first: Int32 = 0) throws(RegistryError) -> DeviceRow {
        let app = row.integer(first + 1)
        let pool = row.optionalInteger(first + 2)
        var poolName: String?
        if let pool { poolName = try pools.name(of: pool) }
        let device = try Device(
            row, from: first + 4, app: try apps.name(of: app), identityPoolID: poolName,
            identityID: pool == nil ? nil : row.optionalText(first + DeviceRow.columnCount),
            rest: { () throws(RegistryError) in try storedAddress(of: row.integer(first)) })
        return DeviceRow(device: device, row: row.integer(first), app: app, identity: row.optionalInteger(first + 3))
    }

    /// Reads the columns of `RecipientRow.columns`, which begin at 1.
    ///
    /// - Parameters:
    ///   - row: a statement that stands on a row.
    ///   - app: the app, if it is known from the question; else the row says it.
    /// - Returns: the recipient with its number.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device.
    func decodeRecipient(_ row: Statement, app: String? = nil) throws(RegistryError) -> RecipientRow {
        let name: String
        if let app { name = app } else { name = try apps.name(of: row.integer(5)) }
        let recipient = try Recipient(row, from: 2, app: name) { () throws(RegistryError) in
            try storedAddress(of: row.integer(1))
        }
        return RecipientRow(recipient: recipient, row: row.integer(1))
    }

    /// The rest of the address of a device, by its row.
    func storedAddress(of device: Int64) throws(RegistryError) -> StoredAddress? {
        let statement = try statements.statement(
            """
            SELECT \(StoredAddress.readColumns) FROM device d JOIN device_address x ON x.device = d.id WHERE d.id = ?
            """)
        statement.bind(1, device)
        defer { statement.reset() }
        return try statement.step() ? StoredAddress(statement, from: 0) : nil
    }
}
