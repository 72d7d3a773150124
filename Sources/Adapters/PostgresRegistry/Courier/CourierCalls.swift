import Notifications
import PushCore

/// The statements for messages that clients fetch.
enum CourierCalls {
    private static let web = Platform.web.registryNumber

    /// The devices of messages, which nobody else changes until the transaction ends: index from 1, device, when it
    /// asked.
    static func devices(of messages: [CourierMessage], nowMilliseconds: Int64) -> Call {
        Call(
            """
            SELECT r.k, d.id, d.asked_at FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY r(token, app, k)
            JOIN app a ON a.name = r.app
            JOIN device d ON d.token = r.token AND d.app = a.id
            WHERE d.platform = \(web) AND (d.asked_at = 0 OR greatest(d.registered_at, d.asked_at) >= $3::bigint)
            ORDER BY d.id FOR NO KEY UPDATE OF d
            """,
            [
                .byteLists(messages.map(\.token.bytes)), .texts(messages.map(\.app)),
                .integer(nowMilliseconds - CourierRules.silenceMillisecondsMaximum),
            ])
    }

    /// Removes some messages that nobody may fetch any more.
    static func removeExpired(nowMilliseconds: Int64) -> Call {
        Call(
            """
            DELETE FROM courier_message WHERE id IN (
                SELECT m.id FROM courier_message m WHERE m.expires_at <= $1::bigint
                LIMIT \(CourierRules.expiredRemovedMaximum) FOR UPDATE SKIP LOCKED)
            """, [.integer(nowMilliseconds)])
    }

    /// Removes the messages of devices that have expired or that others take the place of.
    static func removeReplaced(_ messages: [(device: Int64, message: CourierMessage)], nowMilliseconds: Int64) -> Call {
        Call(
            """
            DELETE FROM courier_message m USING unnest($1::bigint[], $2::text[]) r(device, collapse_id)
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
            INSERT INTO courier_message (device, push, collapse_id, expires_at, payload)
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
            DELETE FROM courier_message WHERE id IN (
                SELECT x.id FROM (
                    SELECT m.id, row_number() OVER (PARTITION BY m.device ORDER BY m.id DESC) AS place
                    FROM courier_message m WHERE m.device = ANY ($1::bigint[])) x
                WHERE x.place > \(CourierRules.messagesPerDeviceMaximum))
            """, [.integers(devices)])
    }

    /// What is there for tokens: index from 1, when the device asked, the row of its oldest message.
    static func slots(of tokens: [DeviceToken], nowMilliseconds: Int64) -> Call {
        Call(
            """
            SELECT r.k, min(d.asked_at), min((
                SELECT m.id FROM courier_message m WHERE m.device = d.id AND m.expires_at > $2::bigint
                ORDER BY m.id LIMIT 1))
            FROM unnest($1::bytea[]) WITH ORDINALITY r(token, k)
            JOIN device d ON d.token = r.token AND d.platform = \(web)
            GROUP BY r.k
            """, [.byteLists(tokens.map(\.bytes)), .integer(nowMilliseconds)])
    }

    /// Takes messages: row, payload of those that nobody else has taken.
    static func take(_ messages: [Int64]) -> Call {
        Call(
            "DELETE FROM courier_message WHERE id = ANY ($1::bigint[]) RETURNING id, payload", [.integers(messages)])
    }

    /// Notes when devices asked.
    static func noteAsking(_ tokens: [DeviceToken], nowMilliseconds: Int64) -> Call {
        Call(
            "UPDATE device SET asked_at = $2::bigint WHERE token = ANY ($1::bytea[]) AND platform = \(web)",
            [.byteLists(tokens.map(\.bytes)), .integer(nowMilliseconds)])
    }
}
