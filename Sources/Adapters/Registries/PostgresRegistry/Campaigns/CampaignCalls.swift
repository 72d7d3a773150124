import RegistryCore
import RegistrySQL

/// The statements for the counts of campaigns.
enum CampaignCalls {
    // MARK: Counting

    /// Waits for others that count pushes or add campaigns, until the transaction ends.
    static let lock = Call("SELECT pg_advisory_xact_lock(\(Schema.campaignLock))")

    /// The endings of pushes that were counted: digest, bits.
    static func seen(_ digests: [Int64]) -> Call {
        Call(
            "SELECT p.digest, p.seen FROM apus.campaign_push p WHERE p.digest = ANY ($1::bigint[])",
            [.integers(digests)])
    }

    /// Finds the stored campaigns among some: app, name.
    static func known(_ campaigns: [CampaignKey]) -> Call {
        Call(
            """
            SELECT c.app, c.name FROM unnest($1::text[], $2::text[]) r(app, name)
            JOIN apus.campaign c ON c.app = r.app AND c.name = r.name
            """, [.texts(campaigns.map(\.app)), .texts(campaigns.map(\.name))])
    }

    /// How many campaigns the apps of some have, those that stand for further ones aside: app, number.
    static func counts(of campaigns: [CampaignKey]) -> Call {
        Call(
            """
            SELECT c.app, count(*) FROM apus.campaign c WHERE c.app = ANY ($1::text[]) AND c.name <> $2::text
            GROUP BY c.app
            """, [.texts(Array(Set(campaigns.lazy.map(\.app)))), .text(CampaignRules.overflowName)])
    }

    /// Remembers the endings of pushes.
    static func remember(_ pushes: [RememberedPush]) -> Call {
        Call(
            """
            INSERT INTO apus.campaign_push (digest, seen, hour)
            SELECT r.digest, r.seen, r.hour FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) r(digest, seen, hour)
            ON CONFLICT (digest) DO UPDATE
            SET seen = campaign_push.seen | excluded.seen, hour = greatest(campaign_push.hour, excluded.hour)
            """,
            [
                .integers(pushes.map(\.digest)), .integers(pushes.map { Int64($0.endings.rawValue) }),
                .integers(pushes.map(\.hour)),
            ])
    }

    /// Adds the campaigns of a sum, or their hours, and then its counts.
    static func add(_ tally: CampaignTally) -> [Call] {
        let (cells, columns) = (tally.cells, CampaignCell.storedColumns)
        return [
            Call(
                """
                UPDATE apus.campaign c
                SET first_hour = least(c.first_hour, r.first_hour), last_hour = greatest(c.last_hour, r.last_hour)
                FROM \(spanRows) r(app, name, first_hour, last_hour)
                WHERE c.app = r.app AND c.name = r.name
                    AND (c.first_hour > r.first_hour OR c.last_hour < r.last_hour)
                """, parameters(tally.spans)),
            addMissing(tally.spans),
            Call(
                """
                INSERT INTO apus.campaign_count (campaign, \(columns.names()))
                SELECT c.number, \(columns.values(of: "r"))
                FROM unnest($1::text[], $2::text[], \(columns.arrays(from: 3)))
                    WITH ORDINALITY r(app, name, \(columns.names()), k)
                JOIN apus.campaign c ON c.app = r.app AND c.name = r.name ORDER BY r.k
                ON CONFLICT (campaign, hour, platform) DO UPDATE SET \(CampaignCell.addition)
                """,
                [.texts(cells.map(\.campaign.app)), .texts(cells.map(\.campaign.name))] + columns.parameters(cells)),
        ]
    }

    /// Stores the campaigns that are not stored yet.
    static func addMissing(_ spans: [CampaignSpan]) -> Call {
        Call(
            """
            INSERT INTO apus.campaign (app, name, first_hour, last_hour)
            SELECT r.app, r.name, r.first_hour, r.last_hour
            FROM \(spanRows) WITH ORDINALITY r(app, name, first_hour, last_hour, k)
            WHERE NOT EXISTS (SELECT FROM apus.campaign c WHERE c.app = r.app AND c.name = r.name) ORDER BY r.k
            """, parameters(spans))
    }

    private static let spanRows = "unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])"

    private static func parameters(_ spans: [CampaignSpan]) -> [Parameter] {
        [
            .texts(spans.map(\.campaign.app)), .texts(spans.map(\.campaign.name)),
            .integers(spans.map(\.hours.lowerBound)), .integers(spans.map(\.hours.upperBound)),
        ]
    }

    // MARK: Reading

    private static func summaries(_ page: String, _ parameters: [Parameter]) -> Call {
        let sums = CampaignCounts.columnNames.map { "coalesce(sum(x.\($0)), 0)::bigint AS \($0)" }
        return Call(
            """
            SELECT \(CampaignSummary.readColumns) FROM (\(page)) c
            CROSS JOIN LATERAL (
                SELECT min(x.hour) AS first_hour, \(sums.joined(separator: ", "))
                FROM apus.campaign_count x WHERE x.campaign = c.number) s
            ORDER BY c.number DESC
            """, parameters)
    }

    /// A page of campaigns, the newest first.
    static func page(app: String?, before number: Int64?, limit: Int) -> Call {
        let page: [Parameter] = [.integer(number ?? .max), .integer(Int64(max(limit, 0)))]
        return summaries(
            """
            SELECT * FROM apus.campaign WHERE number < $1::bigint\(app == nil ? "" : " AND app = $3::text")
            ORDER BY number DESC LIMIT $2::bigint
            """, app.map { page + [.text($0)] } ?? page)
    }

    /// One campaign.
    static func summary(of key: CampaignKey) -> Call {
        summaries(
            "SELECT * FROM apus.campaign WHERE app = $1::text AND name = $2::text", [.text(key.app), .text(key.name)])
    }

    /// The parts of one campaign.
    static func slices(of key: CampaignKey, hours: ClosedRange<Int64>) -> Call {
        Call(
            """
            SELECT \(CampaignSlice.readColumns) FROM apus.campaign_count
            WHERE campaign = (SELECT c.number FROM apus.campaign c WHERE c.app = $1::text AND c.name = $2::text)
                AND hour BETWEEN $3::bigint AND $4::bigint
            ORDER BY hour, platform
            """,
            [.text(key.app), .text(key.name), .integer(hours.lowerBound), .integer(hours.upperBound)])
    }

    // MARK: Forgetting

    /// The statements that forget what happened before an hour, a number of rows at most, in an order in which no count
    /// is left without its campaign; and whether the hour is that of pushes.
    static let forgetting = [
        ("campaign_push", "hour", true), ("campaign_open", "hour", false), ("campaign_count", "hour", false),
        ("campaign", "last_hour", false),
    ].map { table, hour, isOfPushes in
        (
            """
            DELETE FROM \(table) WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM \(table) WHERE \(hour) < $1::bigint ORDER BY \(hour) LIMIT $2::bigint))
            """, isOfPushes
        )
    }
}
