import PushCore

/// The statements for dead letters.
enum DeadLetterCalls {
    /// Adds letters in their order, each once.
    static func add(_ letters: [DeadLetter]) -> Call {
        let summaries = letters.map(\.summary)
        return Call(
            """
            INSERT INTO dead_letter (
                id, reason, detail, app, event_source, event_id, event_type, attempts, first_seen_at,
                dead_lettered_at, body_bytes, envelope, body)
            SELECT r.id, r.reason, r.detail, r.app, r.source, r.event, r.type, r.attempts, r.seen, r.dead, r.bytes,
                r.envelope, r.body
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], $13::bytea[]) WITH ORDINALITY
                r(id, reason, detail, app, source, event, type, attempts, seen, dead, bytes, envelope, body, k)
            ORDER BY r.k
            ON CONFLICT (id) DO NOTHING
            """,
            [
                .texts(summaries.map(\.identifier)), .texts(summaries.map(\.reason)),
                .optionalTexts(summaries.map(\.detail)), .optionalTexts(summaries.map(\.app)),
                .optionalTexts(summaries.map(\.eventSource)), .optionalTexts(summaries.map(\.eventIdentifier)),
                .optionalTexts(summaries.map(\.eventType)), .optionalIntegers(summaries.map(\.attempts)),
                .optionalIntegers(summaries.map(\.firstSeenMilliseconds)),
                .integers(summaries.map(\.deadLetteredMilliseconds)),
                .integers(summaries.map { Int64($0.bodySizeBytes) }),
                .texts(letters.map { String(decoding: $0.message.envelope, as: UTF8.self) }),
                .byteLists(letters.map(\.message.body)),
            ])
    }

    /// A page of summaries.
    static func page(_ filter: DeadLetterFilter, after number: Int64, limit: Int) -> Call {
        let (sql, values) = conditions(filter, from: 3)
        return Call(
            """
            SELECT number, id, reason, detail, app, event_source, event_id, event_type, attempts, first_seen_at,
                dead_lettered_at, body_bytes
            FROM dead_letter WHERE number > $1::bigint\(sql) ORDER BY number LIMIT $2::bigint
            """, [.integer(number), .integer(Int64(max(limit, 0)))] + values)
    }

    /// Counts by reason and app.
    static func counts(_ filter: DeadLetterFilter) -> Call {
        let (sql, values) = conditions(filter, from: 1)
        return Call(
            """
            SELECT reason, app, count(*), min(dead_lettered_at) FROM dead_letter WHERE true\(sql)
            GROUP BY reason, app ORDER BY reason, app NULLS FIRST
            """, values)
    }

    /// What a filter asks for: only what it gives is in the statement, so that an index can be used.
    ///
    /// There are few combinations, so the number of prepared statements is bounded.
    private static func conditions(_ filter: DeadLetterFilter, from first: Int) -> (sql: String, values: [Parameter]) {
        var sql = ""
        var values: [Parameter] = []
        func add(_ text: String?, _ condition: (String) -> String) {
            guard let text else { return }
            sql += " AND " + condition("$\(first + values.count)::text")
            values.append(.text(text))
        }
        func add(_ number: Int64?, _ condition: (String) -> String) {
            guard let number else { return }
            sql += " AND " + condition("$\(first + values.count)::bigint")
            values.append(.integer(number))
        }
        // Digits sort before "g", which ends the range of a prefix.
        add(filter.identifierPrefix) { "id >= \($0)" }
        add(filter.identifierPrefix.map { $0 + "g" }) { "id < \($0)" }
        add(filter.reason) { "reason = \($0)" }
        add(filter.app) { "app = \($0)" }
        add(filter.eventType) { "(event_type = \($0) OR right(event_type, length(\($0)) + 1) = '.' || \($0))" }
        add(filter.eventSource) { "event_source = \($0)" }
        add(filter.eventIdentifier) { "event_id = \($0)" }
        add(filter.sinceMilliseconds) { "dead_lettered_at >= \($0)" }
        add(filter.untilMilliseconds) { "dead_lettered_at < \($0)" }
        return (sql, values)
    }
}
