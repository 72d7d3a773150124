public import Notifications
public import RegistryCore
import RegistrySQL

extension SQLiteRegistry: CourierRegistry {
    private static let courier = Platform.courier.registryNumber

    // MARK: Depositing

    /// Lets messages wait for their devices, all or none.
    public func deposit(_ messages: [CourierMessage], nowMilliseconds: Int64) throws(RegistryError) -> [Bool] {
        guard !messages.isEmpty else { return [] }
        return try writing(durable: true) { () throws(RegistryError) in
            try removeExpiredMessages(nowMilliseconds: nowMilliseconds)
            var areThere: [Bool] = []
            for message in messages {
                guard let device = try courierDevice(message, nowMilliseconds: nowMilliseconds) else {
                    areThere.append(false)
                    continue
                }
                if device.hasNeverAsked { try noteAsking(message.token, nowMilliseconds: nowMilliseconds) }
                try deposit(message, device.row, nowMilliseconds: nowMilliseconds)
                areThere.append(true)
            }
            return areThere
        }
    }

    private func removeExpiredMessages(nowMilliseconds: Int64) throws(RegistryError) {
        let statement = try statements.statement(
            """
            DELETE FROM courier_message WHERE id IN (
                SELECT id FROM courier_message WHERE expires_at <= ? LIMIT \(CourierRules.expiredRemovedMaximum))
            """)
        statement.bind(1, nowMilliseconds)
        try statement.run()
    }

    private func courierDevice(
        _ message: CourierMessage, nowMilliseconds: Int64
    ) throws(RegistryError) -> (row: Int64, hasNeverAsked: Bool)? {
        let statement = try statements.statement(
            """
            SELECT d.id, d.asked_at FROM app a CROSS JOIN device d ON d.app = a.id
            WHERE a.name = ?1 AND d.token = ?2 AND d.platform = \(Self.courier)
                AND (d.asked_at = 0 OR max(d.registered_at, d.asked_at) >= ?3)
            """)
        statement.bind(1, message.app)
        statement.bind(2, message.token.bytes)
        statement.bind(3, nowMilliseconds - CourierRules.silenceMillisecondsMaximum)
        defer { statement.reset() }
        return try statement.step() ? (statement.integer(0), statement.integer(1) == 0) : nil
    }

    private func deposit(
        _ message: CourierMessage, _ device: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) {
        let deletion = try statements.statement(
            "DELETE FROM courier_message WHERE device = ?1 AND (expires_at <= ?2 OR collapse_id = ?3)")
        deletion.bind(1, device)
        deletion.bind(2, nowMilliseconds)
        deletion.bind(3, message.collapseID)
        try deletion.run()
        let insertion = try statements.statement(
            """
            INSERT INTO courier_message (device, push, collapse_id, expires_at, payload) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (device, push) DO NOTHING
            """)
        insertion.bind(1, device)
        insertion.bind(2, message.pushID.bytes)
        insertion.bind(3, message.collapseID)
        insertion.bind(4, message.expiresAtMilliseconds)
        insertion.bind(5, message.payload)
        try insertion.run()
        let trimming = try statements.statement(
            """
            DELETE FROM courier_message WHERE device = ?1 AND id <= (
                SELECT id FROM courier_message WHERE device = ?1 ORDER BY id DESC
                LIMIT 1 OFFSET \(CourierRules.messagesPerDeviceMaximum))
            """)
        trimming.bind(1, device)
        try trimming.run()
    }

    // MARK: Collecting

    /// Takes the oldest message of each of these devices.
    public func collect(_ tokens: [DeviceToken], nowMilliseconds: Int64) throws(RegistryError) -> [MailboxResult] {
        // Most times there is no message, and then there is no wait for a writer.
        let slots = try reading { () throws(RegistryError) in
            var slots: [CourierSlot] = []
            for token in tokens { slots.append(try courierSlot(token, nowMilliseconds: nowMilliseconds)) }
            return slots
        }
        guard slots.contains(where: { $0.message != nil || $0.isToBeNoted }) else { return slots.map(\.mail) }
        return try writing(durable: false) { () throws(RegistryError) in
            var mail: [MailboxResult] = []
            for (token, slot) in zip(tokens, slots) {
                if slot.isToBeNoted { try noteAsking(token, nowMilliseconds: nowMilliseconds) }
                let payload: [UInt8]? =
                    if let message = slot.message { try takeMessage(message) } else { nil }
                mail.append(payload.map { .payload($0) } ?? slot.mail)
            }
            return mail
        }
    }

    private func courierSlot(_ token: DeviceToken, nowMilliseconds: Int64) throws(RegistryError) -> CourierSlot {
        let statement = try statements.statement(
            """
            SELECT min(d.asked_at), min((
                SELECT min(m.id) FROM courier_message m WHERE m.device = d.id AND m.expires_at > ?2))
            FROM device d WHERE d.token = ?1 AND d.platform = \(Self.courier)
            """)
        statement.bind(1, token.bytes)
        statement.bind(2, nowMilliseconds)
        defer { statement.reset() }
        guard try statement.step(), let askedAt = statement.optionalInteger(0) else { return CourierSlot() }
        return CourierSlot(
            isKnown: true, isToBeNoted: askedAt < nowMilliseconds - CourierRules.askedMillisecondsPrecision,
            message: statement.optionalInteger(1))
    }

    private func noteAsking(_ token: DeviceToken, nowMilliseconds: Int64) throws(RegistryError) {
        let statement = try statements.statement(
            "UPDATE device SET asked_at = ? WHERE token = ? AND platform = \(Self.courier)")
        statement.bind(1, nowMilliseconds)
        statement.bind(2, token.bytes)
        try statement.run()
    }

    private func takeMessage(_ message: Int64) throws(RegistryError) -> [UInt8]? {
        let statement = try statements.statement("DELETE FROM courier_message WHERE id = ? RETURNING payload")
        statement.bind(1, message)
        var payload: [UInt8]?
        try statement.forEachRow { row throws(RegistryError) in payload = row.bytes(0) }
        return payload
    }
}

/// The state of one token.
struct CourierSlot {
    /// Whether there is a device.
    var isKnown = false
    /// Whether it has been long since it was noted that the device asks.
    var isToBeNoted = false
    /// The row of the oldest message.
    var message: Int64?

    /// The answer if there is no message, or another process was faster.
    var mail: MailboxResult { isKnown ? .nothing : .unknown }
}

extension SQLiteRegistry: CourierKeyRegistry {
    /// The key that is kept.
    public func storedCourierKey() throws(RegistryError) -> CourierKey? {
        let statement = try statements.statement("SELECT bytes FROM courier_key")
        defer { statement.reset() }
        return try statement.step() ? try CourierKey(statement) : nil
    }

    /// Keeps a key unless there is one already.
    public func keepCourierKey(_ key: CourierKey) throws(RegistryError) -> CourierKey {
        try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement("INSERT OR IGNORE INTO courier_key (id, bytes) VALUES (1, ?)")
            statement.bind(1, key.bytes)
            try statement.run()
            return try storedCourierKey() ?? key
        }
    }
}
