import Essentials
public import Notifications
public import RegistryCore

extension CourierRegistry where Self: SQLStore {
    /// Lets messages wait for their devices, all or none.
    public func deposit(_ messages: [CourierMessage], nowMilliseconds: Int64) throws(RegistryError) -> [Bool] {
        guard !messages.isEmpty else { return [] }
        return try write(durable: true) { (transaction) throws(RegistryError) in
            var devices: [Int64?] = Array(repeating: nil, count: messages.count)
            var noted: [DeviceToken] = []
            try transaction.run([.devices(of: messages, nowMilliseconds: nowMilliseconds)]) { _, row in
                let index = Int(row.integer(0))
                devices[index] = row.integer(1)
                if row.integer(2) == 0 { noted.append(messages[index].token) }
            }
            let found = Deposit.withoutReplaced(
                zip(devices, messages).compactMap { device, message in
                    device.map { Deposit(device: $0, message: message) }
                })
            try transaction.commit([
                .removeExpired(nowMilliseconds: nowMilliseconds),
                .removeReplaced(by: found, nowMilliseconds: nowMilliseconds), .add(found),
                .trim(Array(Set(found.map(\.device)))), .noteAsking(noted, nowMilliseconds: nowMilliseconds),
            ])
            return devices.map { $0 != nil }
        }
    }

    /// Takes the oldest message of each of these devices.
    public func collect(_ tokens: [DeviceToken], nowMilliseconds: Int64) throws(RegistryError) -> [MailboxResult] {
        guard !tokens.isEmpty else { return [] }
        var mail: [MailboxResult] = Array(repeating: .unknown, count: tokens.count)
        var indexes: [Int64: Int] = [:]
        var noted: [DeviceToken] = []
        // Most times there is no message, and then there is no wait for a writer.
        _ = try ask(.slots(of: tokens, nowMilliseconds: nowMilliseconds)) { row in
            let index = Int(row.integer(0))
            mail[index] = .nothing
            if row.integer(1) < nowMilliseconds - CourierRules.askedMillisecondsPrecision {
                noted.append(tokens[index])
            }
            if let message = row.optionalInteger(2) { indexes[message] = index }
        }
        guard !indexes.isEmpty || !noted.isEmpty else { return mail }
        return try write(durable: false) { (transaction) throws(RegistryError) in
            var mail = mail
            try transaction.commit([
                .take(indexes.keys.sorted()), .noteAsking(noted, nowMilliseconds: nowMilliseconds),
            ]) { _, row in
                if let index = indexes[row.integer(0)] { mail[index] = .payload(row.bytes(1)) }
            }
            return mail
        }
    }
}

extension CourierKeyRegistry where Self: SQLStore {
    /// The key that is kept.
    public func storedCourierKey() throws(RegistryError) -> CourierKey? {
        try ask(.courierKey) { (row) throws(RegistryError) in try CourierKey(row) }.first
    }

    /// Keeps a key unless there is one already.
    public func keepCourierKey(_ key: CourierKey) throws(RegistryError) -> CourierKey {
        try write(durable: true) { (transaction) throws(RegistryError) in
            // A statement of its own: another server may have been faster, and only a later one sees its key.
            try transaction.run([
                """
                INSERT INTO \(table: "courier_key") (id, bytes) VALUES (1, \(key.bytes)) ON CONFLICT (id) DO NOTHING
                """
            ])
            var kept = key
            try transaction.commit([.courierKey]) { (_, row) throws(RegistryError) in kept = try CourierKey(row) }
            return kept
        }
    }
}

extension CourierKey {
    /// Reads the key from the one column of a row.
    ///
    /// - Throws: `RegistryError` with `.corrupt` if it has another length.
    fileprivate init(_ row: some RowReader) throws(RegistryError) {
        guard let key = CourierKey(bytes: row.bytes(0))
        else { throw row.corrupt("the key in the table courier_key has not 32 bytes") }
        self = key
    }
}

/// A message, and the row of its device.
private struct Deposit {
    let device: Int64
    let message: CourierMessage

    static let replacedColumns: [StoredColumn<Deposit>] = [
        .integer("device") { $0.device }, .text("collapse_id") { $0.message.collapseID },
    ]
    static let storedColumns =
        replacedColumns + [
            .bytes("push") { $0.message.pushID.bytes }, .integer("expires_at") { $0.message.expiresAtMilliseconds },
            .bytes("payload") { $0.message.payload },
        ]

    /// Leaves out messages that a later message of the same batch replaces.
    static func withoutReplaced(_ deposits: [Deposit]) -> [Deposit] {
        var collapsed: [Int64: Set<ByteText>] = [:]
        return deposits.reversed().filter { deposit in
            guard let collapseID = deposit.message.collapseID else { return true }
            return collapsed[deposit.device, default: []].insert(ByteText(collapseID)).inserted
        }.reversed()
    }
}

extension SQLStatement {
    fileprivate static let courierKey: SQLStatement = "SELECT bytes FROM \(table: "courier_key")"
    private static let courier = String(Platform.courier.registryNumber)
    private static let tokenColumns: [StoredColumn<DeviceToken>] = [.bytes("token") { $0.bytes }]
    private static let messageColumns: [StoredColumn<CourierMessage>] = [
        .bytes("token") { $0.token.bytes }, .text("app") { $0.app },
    ]

    /// The devices of messages, locked until the transaction ends: index, device, when it asked.
    fileprivate static func devices(of messages: [CourierMessage], nowMilliseconds: Int64) -> SQLStatement {
        let oldest = nowMilliseconds - CourierRules.silenceMillisecondsMaximum
        return """
            SELECT r.k, d.id, d.asked_at FROM \(rows: messageColumns, of: messages)
            CROSS JOIN \(table: "app") a CROSS JOIN \(table: "device") d
            WHERE a.name = r.app AND d.token = r.token AND d.app = a.id AND d.platform = \(sql: courier)
                AND (d.asked_at = 0 OR d.asked_at >= \(oldest) OR d.registered_at >= \(oldest))
            \(postgres: "ORDER BY d.id FOR NO KEY UPDATE OF d")
            """
    }

    /// Removes some expired messages.
    fileprivate static func removeExpired(nowMilliseconds: Int64) -> SQLStatement {
        """
        DELETE FROM \(table: "courier_message") WHERE id IN (
            SELECT m.id FROM \(table: "courier_message") m WHERE m.expires_at <= \(nowMilliseconds)
            LIMIT \(sql: "\(CourierRules.expiredRemovedMaximum)")\(postgres: " FOR UPDATE SKIP LOCKED"))
        """
    }

    /// Removes the messages of devices that have expired or that newer ones replace.
    fileprivate static func removeReplaced(by deposits: [Deposit], nowMilliseconds: Int64) -> SQLStatement {
        """
        DELETE FROM \(table: "courier_message") WHERE id IN (
            SELECT m.id FROM \(rows: Deposit.replacedColumns, of: deposits)
            CROSS JOIN \(table: "courier_message") m
            WHERE m.device = r.device AND (m.expires_at <= \(nowMilliseconds) OR m.collapse_id = r.collapse_id))
        """
    }

    /// Adds messages, each push once.
    fileprivate static func add(_ deposits: [Deposit]) -> SQLStatement {
        let names = Deposit.storedColumns.names()
        return """
            INSERT INTO \(table: "courier_message") (\(sql: names))
            SELECT \(sql: names) FROM \(rows: Deposit.storedColumns, of: deposits) WHERE true ORDER BY r.k
            ON CONFLICT (device, push) DO NOTHING
            """
    }

    /// Removes the oldest messages of devices that have too many.
    fileprivate static func trim(_ devices: [Int64]) -> SQLStatement {
        """
        DELETE FROM \(table: "courier_message") WHERE id IN (
            SELECT x.id FROM (
                SELECT m.id, row_number() OVER (PARTITION BY m.device ORDER BY m.id DESC) AS place
                FROM \(table: "courier_message") m WHERE m.device \(among: devices)) x
            WHERE x.place > \(sql: "\(CourierRules.messagesPerDeviceMaximum)"))
        """
    }

    /// The slots of tokens: index, when the device asked, the row of its oldest message.
    fileprivate static func slots(of tokens: [DeviceToken], nowMilliseconds: Int64) -> SQLStatement {
        """
        SELECT r.k, min(d.asked_at), min((
            SELECT m.id FROM \(table: "courier_message") m
            WHERE m.device = d.id AND m.expires_at > \(nowMilliseconds) ORDER BY m.id LIMIT 1))
        FROM \(rows: tokenColumns, of: tokens) CROSS JOIN \(table: "device") d
        WHERE d.token = r.token AND d.platform = \(sql: courier) GROUP BY r.k
        """
    }

    /// Takes messages: row and payload of those that no other process has taken.
    fileprivate static func take(_ messages: [Int64]) -> SQLStatement {
        "DELETE FROM \(table: "courier_message") WHERE id \(among: messages) RETURNING id, payload"
    }

    /// Notes when devices asked.
    fileprivate static func noteAsking(_ tokens: [DeviceToken], nowMilliseconds: Int64) -> SQLStatement {
        """
        UPDATE \(table: "device") AS d SET asked_at = \(nowMilliseconds) FROM \(rows: tokenColumns, of: tokens)
        WHERE d.token = r.token AND d.platform = \(sql: courier)
        """
    }
}
