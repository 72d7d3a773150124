import Notifications
import RegistryCore

extension RegistrationPlan {
    /// The statements that write the devices, their further tokens, and the topics of their users.
    ///
    /// Datasets, topics and subscriptions to them come after these, because registries check quotas with each.
    public var statements: [SQLStatement] {
        var statements: [SQLStatement] = []
        func add<Value>(_ list: [Value], _ statement: ([Value]) -> SQLStatement) {
            if !list.isEmpty { statements.append(statement(list)) }
        }
        add(removedRows) { "DELETE FROM \(table: "device") WHERE id \(among: $0)" }
        for (table, rows) in [
            ("dataset_subscription", rowsLosingDatasets), ("topic_subscription", rowsLosingTopics),
            ("subscription", rowsLosingTopics), ("device_token", rowsLosingTokens),
            ("device_address", rowsLosingStoredAddresses),
        ] { add(rows) { "DELETE FROM \(table: table) WHERE device \(among: $0)" } }
        add(renewed, SQLStatement.renew)
        add(added, SQLStatement.add)
        add(storedAddresses, SQLStatement.keep)
        add(badges, SQLStatement.setBadges)
        statements += tokens.statements
        for (source, rows) in [(TopicSource.user, rowsChangingUser), (TopicSource.device, rowsLosingOwnTopics)] {
            add(rows) { .takeTopics($0, of: source) }
            add(rows) { "DELETE FROM \(table: "topic_subscription") WHERE device \(among: $0) AND source = 0" }
        }
        add(inheritors, SQLStatement.inheritTopics)
        return statements
    }
}

/// The bits of the column `source` of `topic_subscription`: by whose wish a device has a topic.
public enum TopicSource {
    /// The device's own.
    public static let device: Int64 = 1
    /// Its user's.
    public static let user: Int64 = 2
}

// MARK: - Devices

extension SQLStatement {
    /// The column that says to which fan-outs a new row is too new, behind other columns; PostgreSQL fills it in.
    private static let joinColumn: SQLStatement = "\(sqlite: ", joined", postgres: "")"
    private static let joinValue: SQLStatement = "\(sqlite: ", \(newestFanOut)", postgres: "")"
    /// The number of the newest fan-out, in SQLite; 0 if there was none.
    public static let newestFanOut = "(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'fan_out')"

    fileprivate typealias Renewal = (row: Int64, registration: NumberedRegistration)

    private static let deviceColumns: [StoredColumn<NumberedRegistration>] =
        [.integer("app") { $0.app }, .integer("identity_pool") { $0.pool }, .integer("identity") { $0.identity }]
        + Device.storedColumns.map { $0.within { $0.device } }

    fileprivate static func add(_ devices: [NumberedRegistration]) -> SQLStatement {
        """
        INSERT INTO \(table: "device") (\(sql: deviceColumns.names())\(joinColumn))
        SELECT \(sql: deviceColumns.names(of: "r"))\(joinValue)
        FROM \(rows: deviceColumns, of: devices)\(postgres: " ORDER BY r.k")
        """
    }

    fileprivate static func renew(_ devices: [Renewal]) -> SQLStatement {
        let columns = deviceColumns.map { $0.within { (device: Renewal) in device.registration } }
        // The identifier is not changed, so its index is not written.
        let assignments = columns.filter { $0.name != "device_id" }.map { "\($0.name) = r.\($0.name)" }
        // PostgreSQL has a trigger for this.
        let joining = """
            , joined = CASE WHEN d.app = r.app AND d.identity_pool IS r.identity_pool AND d.identity IS r.identity
                AND d.user_id IS r.user_id THEN d.joined ELSE \(newestFanOut) END
            """
        return """
            UPDATE \(table: "device") AS d
            SET \(sql: assignments.joined(separator: ", "))\(sqlite: joining, postgres: "")
            FROM \(rows: [.integer("id") { $0.row }] + columns, of: devices) WHERE d.id = r.id
            """
    }

    /// Keeps the rests of the addresses of devices, which are there, in place of those that they have.
    fileprivate static func keep(_ rests: [(deviceID: String, rest: StoredAddress)]) -> SQLStatement {
        let stored = StoredAddress.storedColumns
        let columns: [StoredColumn<(deviceID: String, rest: StoredAddress)>] =
            [.text("device") { $0.deviceID }] + stored.map { $0.within { $0.rest } }
        return """
            INSERT INTO \(table: "device_address") (device, \(sql: stored.names()))
            SELECT d.id, \(sql: stored.names(of: "r"))
            FROM \(rows: columns, of: rests) CROSS JOIN \(table: "device") d WHERE d.device_id = r.device
            ON CONFLICT (device) DO UPDATE SET \(sql: stored.replacements())
            """
    }

    fileprivate static func setBadges(_ badges: [(deviceID: String, badge: Int)]) -> SQLStatement {
        let columns: [StoredColumn<(deviceID: String, badge: Int)>] = [
            .text("device") { $0.deviceID }, .integer("badge") { Int64($0.badge) },
        ]
        return """
            UPDATE \(table: "device") AS d SET badge = r.badge FROM \(rows: columns, of: badges)
            WHERE d.device_id = r.device AND d.badge <> r.badge
            """
    }

    /// The numbers of devices that the owners of some have in the apps of these, counted up to one beyond a limit.
    ///
    /// - Parameters:
    ///   - column: the column with the owner.
    ///   - deviceIDs: devices that have just come to their owners.
    ///   - limit: the limit.
    /// - Returns: the statement.
    public static func ownerDeviceCounts(_ column: String, of deviceIDs: [String], limit: Int) -> SQLStatement {
        """
        SELECT (SELECT count(*) FROM (SELECT 1 FROM \(table: "device") x
            WHERE x.\(sql: column) = d.\(sql: column) AND x.app = d.app LIMIT \(sql: "\(limit + 1)")) y) AS number
        FROM \(rows: deviceIDColumns, of: deviceIDs) CROSS JOIN \(table: "device") d WHERE d.device_id = r.device
        """
    }

    private static let deviceIDColumns: [StoredColumn<String>] = [.text("device") { $0 }]
}

// MARK: - Datasets and topics

extension SQLStatement {
    private static let subscriptionColumns: [StoredColumn<DeviceSubscription>] = [
        .text("device") { $0.deviceID }, .text("name") { $0.name },
    ]

    /// Subscribes devices to datasets, whose names have been added; a device without an identity is left out.
    public static func addDatasetSubscriptions(_ list: [DeviceSubscription]) -> SQLStatement {
        """
        INSERT INTO \(table: "dataset_subscription") (identity, dataset_name, device\(joinColumn))
        SELECT \(postgres: "DISTINCT ")d.identity, s.id, d.id\(joinValue) FROM \(rows: subscriptionColumns, of: list)
        CROSS JOIN \(table: "device") d CROSS JOIN \(table: "dataset_name") s
        WHERE d.device_id = r.device AND d.identity IS NOT NULL AND s.name = r.name ON CONFLICT DO NOTHING
        """
    }

    /// Adds the topics that apps do not have.
    public static func addTopics(_ list: [AppTopic]) -> SQLStatement {
        let columns: [StoredColumn<AppTopic>] = [.text("name") { $0.name }, .text("app") { $0.app }]
        return """
            INSERT INTO \(table: "topic") (name, app)
            SELECT \(postgres: "DISTINCT ")r.name, a.id FROM \(rows: columns, of: list) CROSS JOIN \(table: "app") a
            WHERE a.name = r.app
                AND NOT EXISTS (SELECT 1 FROM \(table: "topic") t WHERE t.name = r.name AND t.app = a.id)
            \(postgres: "ORDER BY 1, 2 ")ON CONFLICT DO NOTHING
            """
    }

    /// Subscribes devices to topics of their apps, which have been added.
    public static func addTopicSubscriptions(_ list: [DeviceSubscription]) -> SQLStatement {
        """
        INSERT INTO \(table: "topic_subscription") AS u (topic, device, source\(joinColumn))
        SELECT \(postgres: "DISTINCT ")t.id, d.id, 1\(joinValue) FROM \(rows: subscriptionColumns, of: list)
        CROSS JOIN \(table: "device") d CROSS JOIN \(table: "topic") t
        WHERE d.device_id = r.device AND t.name = r.name AND t.app = d.app
        ON CONFLICT (topic, device) DO UPDATE SET source = u.source | 1 WHERE u.source & 1 = 0
        """
    }

    /// Gives devices the topics that their users have in their apps.
    fileprivate static func inheritTopics(_ deviceIDs: [String]) -> SQLStatement {
        """
        INSERT INTO \(table: "topic_subscription") AS u (topic, device, source\(joinColumn))
        SELECT t.id, d.id, 2\(joinValue) FROM \(rows: deviceIDColumns, of: deviceIDs)
        CROSS JOIN \(table: "device") d CROSS JOIN \(table: "topic_user") x CROSS JOIN \(table: "topic") t
        WHERE d.device_id = r.device AND x.user_id = d.user_id AND t.id = x.topic AND t.app = d.app
        ON CONFLICT (topic, device) DO UPDATE SET source = u.source | 2
        """
    }

    /// Ends one source of the topics of devices; a row without a source is to be removed.
    fileprivate static func takeTopics(_ rows: [Int64], of source: Int64) -> SQLStatement {
        """
        UPDATE \(table: "topic_subscription") SET source = source & ~\(sql: "\(source)")
        WHERE device \(among: rows) AND source & \(sql: "\(source)") <> 0
        """
    }
}
