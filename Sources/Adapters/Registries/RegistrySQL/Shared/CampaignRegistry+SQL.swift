public import RegistryCore

extension CampaignRegistry where Self: SQLStore {
    // MARK: Counting

    /// Counts pushes, each ending once.
    public func countPushes(_ pushes: [CampaignPush], nowMilliseconds: Int64) throws(RegistryError) -> Int {
        try requireSchema(CampaignRules.schemaVersion, for: "Counting pushes by campaign")
        let campaigns = Array(Set(pushes.lazy.map(\.campaign)))
        for campaign in campaigns { try campaign.check() }
        guard !pushes.isEmpty else { return 0 }
        return try write(durable: true) { (transaction) throws(RegistryError) in
            var seen: [Int64: CampaignEndings] = [:]
            var stored = StoredCampaigns(among: campaigns)
            let statements = stored.statements
            try transaction.run(statements + [.endings(of: Set(pushes.lazy.map(\.digest)))]) { index, row in
                guard index == statements.count else { return stored.read(row, of: index) }
                seen[row.integer(0)] = CampaignEndings(rawValue: UInt8(truncatingIfNeeded: row.integer(1)))
            }
            var tally = CampaignTally(pushes, seen: seen, nowMilliseconds: nowMilliseconds)
            guard tally.endingCount > 0 else { return 0 }
            tally.keepToMaximum(known: stored.known, counts: stored.counts)
            try transaction.commit([.remember(tally.pushes)] + SQLStatement.add(tally))
            return tally.endingCount
        }
    }

    // MARK: Reading

    /// Campaigns and their sums, the newest first.
    public func campaigns(
        app: String?, before number: Int64?, limit: Int
    ) throws(RegistryError) -> [CampaignSummary] {
        guard try schemaState().version >= CampaignRules.schemaVersion else { return [] }
        let ofApp: SQLStatement = app.map { " AND app = \($0)" } ?? ""
        return try ask(
            .summaries(
                """
                SELECT number FROM \(table: "campaign") WHERE number < \(number ?? .max)\(ofApp)
                ORDER BY number DESC LIMIT \(Int64(max(limit, 0)))
                """)
        ) { CampaignSummary($0) }
    }

    /// One campaign and its sums, or nil.
    public func campaign(_ key: CampaignKey) throws(RegistryError) -> CampaignSummary? {
        guard try schemaState().version >= CampaignRules.schemaVersion else { return nil }
        return try ask(.summaries(.number(of: key))) { CampaignSummary($0) }.first
    }

    /// The parts of a campaign, by hour and platform.
    public func campaignSlices(
        _ key: CampaignKey, hours: ClosedRange<Int64>
    ) throws(RegistryError) -> [CampaignSlice] {
        guard try schemaState().version >= CampaignRules.schemaVersion else { return [] }
        let number = SQLStatement.number(of: key)
        return try ask(
            """
            SELECT \(sql: CampaignSlice.readColumns) FROM \(table: "campaign_count")
            WHERE campaign = (\(number)) AND hour BETWEEN \(hours.lowerBound) AND \(hours.upperBound)
            ORDER BY hour, platform
            """
        ) { (row) throws(RegistryError) in try CampaignSlice(row) }
    }

    // MARK: Forgetting

    /// Forgets what is too old, a bounded part at a time.
    public func forgetCampaigns(
        before hour: Int64, pushesBefore pushHour: Int64, limit: Int
    ) throws(RegistryError) -> Int {
        try requireSchema(CampaignRules.schemaVersion, for: "Forgetting campaigns")
        return try write(durable: false) { (transaction) throws(RegistryError) in
            try transaction.run([.lockCampaigns])
            var removedCount = 0
            // In an order in which no count is left without its campaign.
            for (table, key, column, first) in [
                ("campaign_push", "digest", "hour", pushHour), ("campaign_open", "device, event", "hour", hour),
                ("campaign_count", "campaign, hour, platform", "hour", hour),
                ("campaign", "number", "last_hour", hour),
            ] where removedCount < limit {
                let old: SQLStatement = """
                    FROM \(table: table) WHERE \(sql: column) < \(first) ORDER BY \(sql: column)
                    LIMIT \(Int64(limit - removedCount))
                    """
                removedCount += try transaction.run([
                    """
                    DELETE FROM \(table: table)
                    WHERE \(sqlite: "(\(key)) IN (SELECT \(key)", postgres: "ctid = ANY (ARRAY(SELECT ctid") \(old)
                    \(sqlite: ")", postgres: "))")
                    """
                ])[0]
            }
            try transaction.commit([])
            return removedCount
        }
    }
}

/// The campaigns that are stored, among some, and how many their apps have.
struct StoredCampaigns {
    private let campaigns: [CampaignKey]
    /// Those that are stored.
    private(set) var known: Set<CampaignKey> = []
    /// How many campaigns each app has, those that stand for further ones aside.
    private(set) var counts: [String: Int] = [:]

    /// Begins with none.
    init(among campaigns: [CampaignKey]) { self.campaigns = campaigns }

    /// The statements whose rows `read(_:of:)` takes; they wait for others that add campaigns.
    var statements: [SQLStatement] {
        [.lockCampaigns, .known(campaigns), .campaignCounts(of: Set(campaigns.lazy.map(\.app)))]
    }

    /// Takes a row of the statement of an index.
    mutating func read(_ row: any RowReader, of statement: Int) {
        switch statement {
        case 1: known.insert(campaigns[Int(row.integer(0))])
        case 2: counts[row.text(0)] = Int(clamping: row.integer(1))
        default: break
        }
    }
}
