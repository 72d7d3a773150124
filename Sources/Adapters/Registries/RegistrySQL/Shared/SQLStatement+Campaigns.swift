import RegistryCore

/// The statements for the counts of campaigns.
extension SQLStatement {
    /// Waits for others that count pushes or add campaigns, until the transaction ends.
    ///
    /// Two processes may be told of the same push at once; the second waits, and then sees what the first has counted.
    /// The number is the letters `APUS`, then `CAMP`.
    static let lockCampaigns: SQLStatement = """
        SELECT \(sqlite: "1", postgres: "pg_advisory_xact_lock(\(0x4150_5553_4341_4D50))")
        """

    // MARK: Counting

    /// The endings of pushes that were counted: digest, bits.
    static func endings(of digests: Set<Int64>) -> SQLStatement {
        "SELECT p.digest, p.seen FROM \(table: "campaign_push") p WHERE p.digest \(among: Array(digests))"
    }

    /// The indexes of stored campaigns among some.
    static func known(_ campaigns: [CampaignKey]) -> SQLStatement {
        """
        SELECT r.k FROM \(rows: CampaignKey.columns, of: campaigns) CROSS JOIN \(table: "campaign") c
        WHERE c.app = r.app AND c.name = r.name
        """
    }

    /// How many campaigns apps have, those that stand for further ones aside: app, number.
    static func campaignCounts(of apps: Set<String>) -> SQLStatement {
        let columns: [StoredColumn<String>] = [.text("app") { $0 }]
        return """
            SELECT r.app, (SELECT count(*) FROM \(table: "campaign") c
                WHERE c.app = r.app AND c.name <> \(CampaignRules.overflowName))
            FROM \(rows: columns, of: Array(apps))
            """
    }

    /// Remembers the endings of pushes.
    static func remember(_ pushes: [RememberedPush]) -> SQLStatement {
        let columns: [StoredColumn<RememberedPush>] = [
            .integer("digest") { $0.digest }, .integer("seen") { Int64($0.endings.rawValue) },
            .integer("hour") { $0.hour },
        ]
        return """
            INSERT INTO \(table: "campaign_push") (digest, seen, hour)
            SELECT r.digest, r.seen, r.hour FROM \(rows: columns, of: pushes) WHERE true
            ON CONFLICT (digest) DO UPDATE SET seen = campaign_push.seen | excluded.seen,
                hour = \(sqlite: "max", postgres: "greatest")(campaign_push.hour, excluded.hour)
            """
    }

    /// Adds the campaigns of a sum, or their hours, and then its counts.
    static func add(_ tally: CampaignTally) -> [SQLStatement] {
        let counts = CampaignCell.storedColumns
        let columns: [StoredColumn<CampaignCell>] = [
            .text("app") { $0.campaign.app }, .text("name") { $0.campaign.name },
        ]
        return [
            """
            UPDATE \(table: "campaign") AS c
            SET first_hour = \(sqlite: "min", postgres: "least")(c.first_hour, r.first_hour),
                last_hour = \(sqlite: "max", postgres: "greatest")(c.last_hour, r.last_hour)
            FROM \(rows: CampaignSpan.columns, of: tally.spans)
            WHERE c.app = r.app AND c.name = r.name AND (c.first_hour > r.first_hour OR c.last_hour < r.last_hour)
            """, addMissing(tally.spans),
            """
            INSERT INTO \(table: "campaign_count") (campaign, \(sql: counts.names()))
            SELECT c.number, \(sql: counts.names(of: "r")) FROM \(rows: columns + counts, of: tally.cells)
            CROSS JOIN \(table: "campaign") c WHERE c.app = r.app AND c.name = r.name ORDER BY r.k
            ON CONFLICT (campaign, hour, platform) DO UPDATE SET \(sql: CampaignCell.addition)
            """,
        ]
    }

    /// Stores the campaigns that are not stored yet.
    static func addMissing(_ spans: [CampaignSpan]) -> SQLStatement {
        let names = CampaignSpan.columns.names()
        return """
            INSERT INTO \(table: "campaign") (\(sql: names))
            SELECT \(sql: names) FROM \(rows: CampaignSpan.columns, of: spans)
            WHERE NOT EXISTS (SELECT 1 FROM \(table: "campaign") c WHERE c.app = r.app AND c.name = r.name)
            ORDER BY r.k
            """
    }

    // MARK: Reading

    /// The number of a campaign.
    static func number(of key: CampaignKey) -> SQLStatement {
        "SELECT number FROM \(table: "campaign") WHERE app = \(key.app) AND name = \(key.name)"
    }

    /// The campaigns with some numbers; in the order of their numbers, so that nothing has to be sorted.
    ///
    /// An array tells PostgreSQL that they are few, so that it reads the counts of these alone.
    static func summaries(_ numbers: SQLStatement) -> SQLStatement {
        """
        SELECT \(sql: CampaignSummary.readColumns) FROM \(table: "campaign") c
        LEFT JOIN \(table: "campaign_count") x ON x.campaign = c.number
        WHERE c.number \(sqlite: "IN (", postgres: "= ANY (ARRAY(")\(numbers)\(sqlite: ")", postgres: "))")
        GROUP BY c.number ORDER BY c.number DESC
        """
    }
}

extension CampaignKey {
    /// The columns that name a campaign.
    static let columns: [StoredColumn<CampaignKey>] = [.text("app") { $0.app }, .text("name") { $0.name }]
}

extension CampaignSpan {
    fileprivate static let columns: [StoredColumn<CampaignSpan>] = [
        .text("app") { $0.campaign.app }, .text("name") { $0.campaign.name },
        .integer("first_hour") { $0.hours.lowerBound }, .integer("last_hour") { $0.hours.upperBound },
    ]
}
