import Notifications
public import RegistryCore

extension Registry where Self: SQLStore {
    /// Removes dead tokens: with an alert token its device, of any other kind only the token.
    public func prune(_ deadTokens: [DeadToken]) throws(RegistryError) -> Int {
        var steps: [(statement: SQLStatement, isRemoval: Bool)] = []
        if case let further = deadTokens.filter({ $0.kind != .alert }), !further.isEmpty {
            steps.append((.removeTokens(further), true))
        }
        var plain: [DeadToken] = []
        func removePlain() {
            if !plain.isEmpty { steps.append((.removeDevices(plain), true)) }
            plain = []
        }
        // In their order, because the successor of one token may be another one.
        for dead in deadTokens where dead.kind == .alert {
            guard let successor = dead.successor else {
                plain.append(dead)
                continue
            }
            removePlain()
            steps.append((.removeDevice(dead, ifAnotherHas: successor), true))
            steps += SQLStatement.replace(dead, by: successor).map { ($0, false) }
        }
        removePlain()
        guard !steps.isEmpty else { return 0 }
        return try write(durable: false) { (transaction) throws(RegistryError) in
            zip(try transaction.commit(steps.map(\.statement)), steps).reduce(0) { $0 + ($1.1.isRemoval ? $1.0 : 0) }
        }
    }
}

extension SQLStatement {
    private static let deadColumns: [StoredColumn<DeadToken>] = [
        .text("app") { $0.app }, .integer("platform") { $0.platform.registryNumber },
        .text("kind") { $0.kind.rawValue }, .bytes("token") { $0.token.bytes },
        .bytes("address_key") { AddressKey($0.token, $0.platform).bytes },
        .integer("since") { $0.deadSinceMilliseconds },
    ]

    /// Removes tokens that are no alert tokens.
    fileprivate static func removeTokens(_ dead: [DeadToken]) -> SQLStatement {
        """
        DELETE FROM \(table: "device_token") WHERE (device, kind) IN (
            SELECT t.device, t.kind FROM \(rows: deadColumns, of: dead) CROSS JOIN \(table: "app") a
            CROSS JOIN \(table: "device_token") t CROSS JOIN \(table: "device") d
            WHERE a.name = r.app AND t.token = r.token AND t.app = a.id AND t.kind = r.kind AND d.id = t.device
                AND d.platform = r.platform AND (r.since IS NULL OR t.registered_at < r.since))
        """
    }

    /// Removes the devices of alert tokens.
    ///
    /// PostgreSQL compares a device again that a registration has renewed meanwhile; it would not in a subquery.
    fileprivate static func removeDevices(_ dead: [DeadToken]) -> SQLStatement {
        """
        DELETE FROM \(table: "device") \(sqlite: "WHERE id IN (SELECT d.id FROM", postgres: "AS d USING")
            \(rows: deadColumns, of: dead) CROSS JOIN \(table: "app") a\(sqlite: " CROSS JOIN device d", postgres: "")
            WHERE a.name = r.app AND d.token = r.address_key AND d.app = a.id AND d.platform = r.platform
                AND (r.since IS NULL OR d.registered_at < r.since)\(sqlite: ")", postgres: "")
        """
    }

    /// The condition for the device of an app that has a key.
    private static func has(_ key: AddressKey, app: String) -> SQLStatement {
        """
        token = \(key.bytes) AND app = (SELECT a.id FROM \(table: "app") a WHERE a.name = \(app))
        AND platform = \(key.platformNumber)
        """
    }

    /// The condition for the device of a dead token.
    private static func has(_ dead: DeadToken) -> SQLStatement {
        let since = dead.deadSinceMilliseconds
        return """
            \(has(AddressKey(dead.token, dead.platform), app: dead.app))
            AND (\(since) IS NULL OR registered_at < \(since))
            """
    }

    /// Removes the device of a token whose successor another device has.
    fileprivate static func removeDevice(_ dead: DeadToken, ifAnotherHas successor: DeviceToken) -> SQLStatement {
        """
        DELETE FROM \(table: "device") WHERE \(has(dead))
            AND EXISTS (SELECT 1 FROM \(table: "device") o
                WHERE o.token = \(AddressKey(successor, dead.platform).bytes) AND o.app = device.app)
        """
    }

    /// Gives the device of a token its successor, after the part of that one that its key has no room for.
    fileprivate static func replace(_ dead: DeadToken, by successor: DeviceToken) -> [SQLStatement] {
        let new = AddressKey(successor, dead.platform)
        let update: SQLStatement =
            "UPDATE \(table: "device") SET token = \(new.bytes) WHERE \(has(dead))"
        let device: SQLStatement = "SELECT id FROM \(table: "device") WHERE \(has(dead))"
        guard let rest = StoredAddress(successor, dead.platform) else {
            return ["DELETE FROM \(table: "device_address") WHERE device IN (\(device))", update]
        }
        let columns = StoredAddress.storedColumns
        return [
            """
            INSERT INTO \(table: "device_address") (device, \(sql: columns.names()))
            SELECT d.id, \(columns, of: rest) FROM (\(device)) d WHERE true
            ON CONFLICT (device) DO UPDATE SET \(sql: columns.replacements())
            """,
            update,
        ]
    }
}
