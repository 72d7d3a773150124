import Essentials
public import Notifications
public import RegistryCore
import RegistrySQL

extension PostgresRegistry: CourierRegistry {
    /// Lets messages wait for their devices, all or none.
    public func deposit(_ messages: [CourierMessage], nowMilliseconds: Int64) throws(RegistryError) -> [Bool] {
        guard !messages.isEmpty else { return [] }
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            let rows = try transaction.run([CourierCalls.devices(of: messages, nowMilliseconds: nowMilliseconds)])[0]
            var devices: [Int64?] = Array(repeating: nil, count: messages.count)
            var noted: [DeviceToken] = []
            for row in rows {
                let index = Int(row.integer(0)) - 1
                devices[index] = row.integer(1)
                if row.integer(2) == 0 { noted.append(messages[index].token) }
            }
            let found = Self.withoutReplaced(
                zip(devices, messages).compactMap { device, message in device.map { ($0, message) } })
            try transaction.commit([
                CourierCalls.removeExpired(nowMilliseconds: nowMilliseconds),
                CourierCalls.removeReplaced(found, nowMilliseconds: nowMilliseconds), CourierCalls.add(found),
                CourierCalls.trim(Array(Set(found.map(\.device)))),
                CourierCalls.noteAsking(noted, nowMilliseconds: nowMilliseconds),
            ])
            return devices.map { $0 != nil }
        }
    }

    /// Leaves out messages that a later message of the same batch replaces.
    private static func withoutReplaced(
        _ messages: [(device: Int64, message: CourierMessage)]
    ) -> [(device: Int64, message: CourierMessage)] {
        var collapsed: [Int64: Set<ByteText>] = [:]
        var kept: [(device: Int64, message: CourierMessage)] = []
        for (device, message) in messages.reversed() {
            if let collapseID = message.collapseID,
                !collapsed[device, default: []].insert(ByteText(collapseID)).inserted
            {
                continue
            }
            kept.append((device, message))
        }
        return kept.reversed()
    }

    /// Takes the oldest message of each of these devices.
    public func collect(_ tokens: [DeviceToken], nowMilliseconds: Int64) throws(RegistryError) -> [MailboxResult] {
        guard !tokens.isEmpty else { return [] }
        let rows = try ask([CourierCalls.slots(of: tokens, nowMilliseconds: nowMilliseconds)])[0]
        var mail: [MailboxResult] = Array(repeating: .unknown, count: tokens.count)
        var indexes: [Int64: Int] = [:]
        var noted: [DeviceToken] = []
        for row in rows {
            let index = Int(row.integer(0)) - 1
            mail[index] = .nothing
            if row.integer(1) < nowMilliseconds - CourierRules.askedMillisecondsPrecision {
                noted.append(tokens[index])
            }
            if let message = row.optionalInteger(2) { indexes[message] = index }
        }
        guard !indexes.isEmpty || !noted.isEmpty else { return mail }
        let taken = try writing(durable: false) { (transaction) throws(RegistryError) in
            try transaction.commit([
                CourierCalls.take(indexes.keys.sorted()),
                CourierCalls.noteAsking(noted, nowMilliseconds: nowMilliseconds),
            ])[0]
        }
        for row in taken {
            if let index = indexes[row.integer(0)] { mail[index] = .payload(row.bytes(1)) }
        }
        return mail
    }
}

extension PostgresRegistry: CourierKeyRegistry {
    private static let selection = Call("SELECT bytes FROM apus.courier_key")

    /// The key that is kept.
    public func storedCourierKey() throws(RegistryError) -> CourierKey? {
        try ask([Self.selection])[0].first.map { (row) throws(RegistryError) in try CourierKey(row) }
    }

    /// Keeps a key unless there is one already.
    public func keepCourierKey(_ key: CourierKey) throws(RegistryError) -> CourierKey {
        let insertion = Call(
            "INSERT INTO apus.courier_key (id, bytes) VALUES (1, $1::bytea) ON CONFLICT (id) DO NOTHING",
            [.bytes(key.bytes)])
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            // A statement of its own: another server may have been faster, and only a later one sees its key.
            _ = try transaction.run([insertion])
            let kept = try transaction.commit([Self.selection])[0].first
            return try kept.map { (row) throws(RegistryError) in try CourierKey(row) } ?? key
        }
    }
}

/// The statements for messages that clients fetch.
enum CourierCalls {
    private static let courier = Platform.courier.registryNumber

    /// The devices of messages, locked until the transaction ends: index from 1, device, when it asked.
    static func devices(of messages: [CourierMessage], nowMilliseconds: Int64) -> Call {
        Call(
            """
            SELECT r.k, d.id, d.asked_at FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY r(token, app, k)
            JOIN apus.app a ON a.name = r.app
            JOIN apus.device d ON d.token = r.token AND d.app = a.id
            WHERE d.platform = \(courier) AND (d.asked_at = 0 OR greatest(d.registered_at, d.asked_at) >= $3::bigint)
            ORDER BY d.id FOR NO KEY UPDATE OF d
            """,
            [
                .byteLists(messages.map(\.token.bytes)), .texts(messages.map(\.app)),
                .integer(nowMilliseconds - CourierRules.silenceMillisecondsMaximum),
            ])
    }

    /// Removes some expired messages.
    static func removeExpired(nowMilliseconds: Int64) -> Call {
        Call(
            """
            DELETE FROM apus.courier_message WHERE id IN (
                SELECT m.id FROM apus.courier_message m WHERE m.expires_at <= $1::bigint
                LIMIT \(CourierRules.expiredRemovedMaximum) FOR UPDATE SKIP LOCKED)
            """, [.integer(nowMilliseconds)])
    }

    /// Removes the messages of devices that have expired or that newer ones replace.
    static func removeReplaced(_ messages: [(device: Int64, message: CourierMessage)], nowMilliseconds: Int64) -> Call {
        Call(
            """
            DELETE FROM apus.courier_message m USING unnest($1::bigint[], $2::text[]) r(device, collapse_id)
            WHERE m.device = r.device AND (m.expires_at <= $3::bigint OR m.collapse_id = r.collapse_id)
            """,
            [
                .integers(messages.map(\.device)), .optionalTexts(messages.map(\.message.collapseID)),
                .integer(nowMilliseconds),
            ])
    }

    /// Adds messages, each push once.
    static func add(_ messages: [(device: Int64, message: CourierMessage)]) -> Call {
        Call(
            """
            INSERT INTO apus.courier_message (device, push, collapse_id, expires_at, payload)
            SELECT r.device, r.push, r.collapse_id, r.expires_at, r.payload
            FROM unnest($1::bigint[], $2::bytea[], $3::text[], $4::bigint[], $5::bytea[])
                WITH ORDINALITY r(device, push, collapse_id, expires_at, payload, k) ORDER BY r.k
            ON CONFLICT (device, push) DO NOTHING
            """,
            [
                .integers(messages.map(\.device)), .byteLists(messages.map(\.message.pushID.bytes)),
                .optionalTexts(messages.map(\.message.collapseID)),
                .integers(messages.map(\.message.expiresAtMilliseconds)),
                .byteLists(messages.map(\.message.payload)),
            ])
    }

    /// Removes the oldest messages of devices that have too many.
    static func trim(_ devices: [Int64]) -> Call {
        Call(
            """
            DELETE FROM apus.courier_message WHERE id IN (
                SELECT x.id FROM (
                    SELECT m.id, row_number() OVER (PARTITION BY m.device ORDER BY m.id DESC) AS place
                    FROM apus.courier_message m WHERE m.device = ANY ($1::bigint[])) x
                WHERE x.place > \(CourierRules.messagesPerDeviceMaximum))
            """, [.integers(devices)])
    }

    /// The slots of tokens: index from 1, when the device asked, the row of its oldest message.
    static func slots(of tokens: [DeviceToken], nowMilliseconds: Int64) -> Call {
        Call(
            """
            SELECT r.k, min(d.asked_at), min((
                SELECT m.id FROM apus.courier_message m WHERE m.device = d.id AND m.expires_at > $2::bigint
                ORDER BY m.id LIMIT 1))
            FROM unnest($1::bytea[]) WITH ORDINALITY r(token, k)
            JOIN apus.device d ON d.token = r.token AND d.platform = \(courier)
            GROUP BY r.k
            """, [.byteLists(tokens.map(\.bytes)), .integer(nowMilliseconds)])
    }

    /// Takes messages: row and payload of those that no other process has taken.
    static func take(_ messages: [Int64]) -> Call {
        Call(
            "DELETE FROM apus.courier_message WHERE id = ANY ($1::bigint[]) RETURNING id, payload",
            [.integers(messages)])
    }

    /// Notes when devices asked.
    static func noteAsking(_ tokens: [DeviceToken], nowMilliseconds: Int64) -> Call {
        Call(
            "UPDATE apus.device SET asked_at = $2::bigint WHERE token = ANY ($1::bytea[]) AND platform = \(courier)",
            [.byteLists(tokens.map(\.bytes)), .integer(nowMilliseconds)])
    }
}
