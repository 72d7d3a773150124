import PostgreSQL
import RegistryCore
import RegistrySQL

/// The statements about subscriptions to records.
enum SubscriptionCalls {
    /// The columns of `subscription s` and its app `a` and device `o` that make one up.
    private static let pushedColumns = SubscriptionDecoder.pushedColumns(app: "a.name")
    private static let wholeColumns = SubscriptionDecoder.wholeColumns(app: "a.name")
    private static let followedColumns = SubscriptionDecoder.followedColumns(app: "a.name")
    /// The joins that `a` and `o` come from.
    private static let joins = "JOIN apus.app a ON a.id = s.app LEFT JOIN apus.device o ON o.id = s.device"

    // MARK: Saving

    /// The devices of these identifiers and apps, which keep their apps until the transaction ends.
    static func lockDevices(_ keys: [(deviceID: String, app: String)]) -> Call {
        Call(
            """
            SELECT r.k FROM unnest($1::text[], $2::text[]) WITH ORDINALITY r(device, app, k)
            JOIN apus.device d ON d.device_id = r.device AND d.app = (SELECT a.id FROM apus.app a WHERE a.name = r.app)
            ORDER BY d.id FOR SHARE OF d
            """, [.texts(keys.map(\.deviceID)), .texts(keys.map(\.app))])
    }

    private static let stored = RecordSubscription.storedColumns

    /// Adds subscriptions, in their order.
    static func add(_ list: [RecordSubscription]) -> Call {
        Call(
            """
            INSERT INTO apus.subscription (app, user_id, device, subscription_id, \(stored.names()))
            SELECT (SELECT a.id FROM apus.app a WHERE a.name = r.app), r.owner_user,
                (SELECT d.id FROM apus.device d WHERE d.device_id = r.owner_device), r.subscription_id,
                \(stored.values(of: "r"))
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], \(stored.arrays(from: 5))) WITH ORDINALITY
                r(app, owner_user, owner_device, subscription_id, \(stored.names()), k)
            ORDER BY r.k
            """, names(list.map(\.key)) + stored.parameters(list))
    }

    /// Gives rows another content.
    static func renew(_ list: [(row: Int64, subscription: RecordSubscription)]) -> Call {
        Call(
            """
            UPDATE apus.subscription s
            SET (\(stored.names()), fired_event, fired_at)
                = (SELECT \(stored.values(of: "r")), NULL::bytea, NULL::bigint)
            FROM unnest($1::bigint[], \(stored.arrays(from: 2))) r(id, \(stored.names())) WHERE s.id = r.id
            """, [.integers(list.map(\.row))] + stored.parameters(list.map(\.subscription)))
    }

    private static func names(_ keys: [SubscriptionKey]) -> [Parameter] {
        [
            .texts(keys.map(\.app)), .optionalTexts(keys.map { $0.owner.isUser ? $0.owner.name : nil }),
            .optionalTexts(keys.map { $0.owner.isUser ? nil : $0.owner.name }), .texts(keys.map(\.subscriptionID)),
        ]
    }

    /// The rows of subscriptions: the index in the list from 1, then the row.
    static func rows(of keys: [SubscriptionKey]) -> Call { Call("SELECT r.k, s.id \(namedRows)", names(keys)) }

    /// Makes others wait who change these subscriptions.
    ///
    /// Returns the row of each, its bytes for the quotas, and whether it has fired its only push.
    static func lock(_ keys: [SubscriptionKey]) -> Call {
        Call(
            """
            SELECT t.id, \(Schema.subscriptionBytes("t")), t.fired_event IS NOT NULL
            FROM apus.subscription t
            WHERE t.id IN (SELECT s.id \(namedRows)) ORDER BY t.id FOR UPDATE
            """, names(keys))
    }

    private static let namedRows = """
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
            r(app, owner_user, owner_device, subscription_id, k)
        CROSS JOIN LATERAL (
            SELECT x.id FROM apus.subscription x WHERE x.user_id = r.owner_user
                AND x.app = (SELECT a.id FROM apus.app a WHERE a.name = r.app) AND x.subscription_id = r.subscription_id
            UNION ALL
            SELECT x.id FROM apus.subscription x
            WHERE x.device = (SELECT d.id FROM apus.device d WHERE d.device_id = r.owner_device)
                AND x.app = (SELECT a.id FROM apus.app a WHERE a.name = r.app)
                AND x.subscription_id = r.subscription_id) s
        """

    /// Subscriptions by their keys, without those that have fired.
    static func named(_ keys: [SubscriptionKey]) -> Call {
        Call(
            """
            SELECT \(wholeColumns) FROM (SELECT s.id \(namedRows)) x JOIN apus.subscription s ON s.id = x.id \(joins)
            WHERE s.fired_event IS NULL
            """, names(keys))
    }

    // MARK: Reading

    /// Subscriptions by their rows, those included that have fired.
    static func subscriptions(_ rows: [Int64]) -> Call {
        Call(
            "SELECT \(pushedColumns) FROM apus.subscription s \(joins) WHERE s.id = ANY ($1::bigint[]) ORDER BY s.id",
            [.integers(rows)])
    }

    /// Subscriptions in the order of their rows, as many as make a page: after their columns, how many there are up to
    /// the limit.
    ///
    /// Rows beyond the page are not sent, and large columns of them are not even read.
    static func list(_ filter: SubscriptionFilter, after row: Int64, limit: Int) -> Call {
        var conditions = ["s.id > $1::bigint", "s.fired_event IS NULL"]
        var parameters: [Parameter] = [.integer(row), .integer(Int64(max(limit, 0)))]
        func require(_ value: String?, _ condition: (String) -> String) {
            guard let value else { return }
            parameters.append(.text(value))
            conditions.append(condition("$\(parameters.count)::text"))
        }
        require(filter.app) { "s.app = (SELECT x.id FROM apus.app x WHERE x.name = \($0))" }
        // The operator keeps the planner from the index of types, which is not in this order.
        require(filter.recordType) { "s.record_type || '' = \($0)" }
        switch filter.owner {
        case .user(let name): require(name) { "s.user_id = \($0)" }
        case .device(let name):
            require(name) { "s.device = (SELECT x.id FROM apus.device x WHERE x.device_id = \($0))" }
        case nil: break
        }
        // The few subscriptions of an owner are found first and then sorted; all others are walked in order.
        return Call(
            """
            WITH s AS \(filter.owner == nil ? "NOT " : "")MATERIALIZED (
                SELECT * FROM apus.subscription s WHERE \(conditions.joined(separator: " AND ")))
            SELECT \(wholeColumns), s.number FROM (
                SELECT x.*, count(*) OVER () AS number, \(bytesBefore) AS bytes_before
                FROM (SELECT * FROM s ORDER BY s.id LIMIT $2::bigint) x) s
            \(joins) WHERE s.bytes_before < \(SubscriptionPage.bytesMaximum) ORDER BY s.id
            """, parameters)
    }

    /// How many subscriptions there are: app, type of records, number.
    ///
    /// An index alone is read. No record type is empty, so an empty one stands for none.
    static func counts(app: String?, after last: SubscriptionCount?, limit: Int) -> Call {
        Call(
            """
            SELECT a.name, c.record_type, c.number FROM apus.app a CROSS JOIN LATERAL (
                SELECT s.record_type, count(*) AS number FROM apus.subscription s
                WHERE s.app + 0 = a.id AND s.fired_event IS NULL
                    AND ($2::text IS NULL OR (a.name, coalesce(s.record_type, '')) > ($2::text, $3::text))
                GROUP BY s.record_type ORDER BY s.record_type NULLS FIRST LIMIT $4::bigint) c
            WHERE ($1::text IS NULL OR a.name = $1::text) AND ($2::text IS NULL OR a.name >= $2::text)
            ORDER BY a.name, c.record_type NULLS FIRST LIMIT $4::bigint
            """, [.text(app), .text(last?.app), .text(last?.recordType ?? ""), .integer(Int64(max(limit, 0)))])
    }

    /// The total bytes of the rows before a row `x`.
    private static let bytesBefore = """
        sum(\(Schema.subscriptionBytes("x"))) OVER (ORDER BY x.id) - (\(Schema.subscriptionBytes("x")))
        """

    // MARK: Following

    /// An entry of the log that is not after the next one to a position, and the last of all.
    ///
    /// The very first entry would serve as well, but millions of dropped entries may lie before it. Until they are
    /// vacuumed away, every search for the first reads all of them.
    static func logBounds(around position: Int64) -> Call {
        Call(
            """
            SELECT (SELECT l.id FROM apus.subscription_log l WHERE l.id <= $1::bigint + 1 ORDER BY l.id DESC LIMIT 1),
                (SELECT l.id FROM apus.subscription_log l ORDER BY l.id DESC LIMIT 1)
            """, [.integer(min(max(position, 0), .max - 1))])
    }

    /// The followed parts of all subscriptions, in the order of their rows.
    static func followed(after row: Int64, limit: Int) -> Call {
        Call(
            """
            SELECT \(followedColumns) FROM (
                SELECT * FROM apus.subscription s WHERE s.id > $1::bigint AND s.fired_event IS NULL
                ORDER BY s.id LIMIT $2::bigint) s
            JOIN apus.app a ON a.id = s.app ORDER BY s.id
            """, [.integer(row), .integer(Int64(limit))])
    }

    /// The log after an entry: entry, row of the subscription, whether it exists, its followed parts.
    static func changes(after position: Int64, limit: Int) -> Call {
        Call(
            """
            SELECT l.id, l.subscription, s.id IS NOT NULL AND s.fired_event IS NULL, \(followedColumns)
            FROM (
                SELECT * FROM apus.subscription_log l WHERE l.id > $1::bigint ORDER BY l.id LIMIT $2::bigint) l
            LEFT JOIN apus.subscription s ON s.id = l.subscription LEFT JOIN apus.app a ON a.id = s.app
            ORDER BY l.id
            """, [.integer(position), .integer(Int64(limit))])
    }

    // MARK: Resolving

    /// Devices of subscriptions: row to go on after, device to leave out, fan-out to be older than.
    static func subscribers(_ parameters: [Parameter]) -> Call {
        subscribers(
            """
            unnest($1::bigint[], $2::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[])
                WITH ORDINALITY r(request, element, subscription, after, excluded, as_of, k)
            """, "d.id > r.after AND d.joined < r.as_of AND d.device_id IS DISTINCT FROM r.excluded",
            limit: "LIMIT $3::bigint", parameters)
    }

    /// The named devices that are subscribers.
    static func namedSubscribers(_ parameters: [Parameter]) -> Call {
        subscribers(
            """
            unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[])
                WITH ORDINALITY r(request, element, subscription, name, k)
            """, "d.device_id = r.name", limit: "", parameters)
    }

    /// Devices by their names: index from 1, row of the device, row of its app, its user.
    static func owners(ofDevices deviceIDs: [String]) -> Call {
        Call(
            """
            SELECT r.k, d.id, d.app, d.user_id FROM unnest($1::text[]) WITH ORDINALITY r(name, k)
            JOIN apus.device d ON d.device_id = r.name
            """, [.texts(deviceIDs)])
    }

    /// The silent subscriptions of owners that fire always, in the order of their rows: index of the question from 1,
    /// row of the subscription.
    ///
    /// An owner's subscriptions are found by the owner and then sorted. `OFFSET 0` keeps the planner from walking those
    /// of all owners in the order of their rows instead.
    static func silent(_ questions: [SilentCovering.Question], limit: Int) -> Call {
        let condition = "t.app = r.app AND t.is_silent AND NOT t.fires_once AND t.fired_event IS NULL"
        return Call(
            """
            SELECT r.k, t.id
            FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) WITH ORDINALITY
                r(user_id, device, app, first_row, below, k)
            CROSS JOIN LATERAL (
                SELECT t.id FROM (
                    SELECT t.id FROM apus.subscription t WHERE t.user_id = r.user_id AND \(condition)
                    UNION ALL
                    SELECT t.id FROM apus.subscription t WHERE t.device = r.device AND \(condition)
                    OFFSET 0) t
                WHERE t.id >= r.first_row AND t.id < r.below ORDER BY t.id LIMIT $6::bigint) t
            ORDER BY r.k, t.id
            """,
            [
                .optionalTexts(questions.map(\.owner.userID)), .optionalIntegers(questions.map(\.owner.device)),
                .integers(questions.map(\.owner.app)), .integers(questions.map(\.first)),
                .integers(questions.map(\.below)), .integer(Int64(limit)),
            ])
    }

    private static func subscribers(
        _ probes: String, _ condition: String, limit: String, _ parameters: [Parameter]
    ) -> Call {
        Call(
            """
            SELECT r.request, r.element, d.id, \(Recipient.readColumns), a.name, s.id
            FROM \(probes)
            JOIN apus.subscription s ON s.id = r.subscription
            JOIN apus.app a ON a.id = s.app
            CROSS JOIN LATERAL (
                (SELECT d.* FROM apus.device d WHERE d.user_id = s.user_id AND d.app = s.app AND \(condition)
                    ORDER BY d.id \(limit))
                UNION ALL
                (SELECT d.* FROM apus.device d WHERE d.id = s.device AND d.app = s.app AND \(condition))) d
            ORDER BY r.k, d.id
            """, parameters)
    }
}
