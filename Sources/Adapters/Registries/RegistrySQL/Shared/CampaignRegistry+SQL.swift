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
            var known: Set<CampaignKey> = []
            try transaction.run([
                .lockCampaigns, .endings(of: Set(pushes.lazy.map(\.digest))), .known(campaigns),
            ]) { index, row in
                if index == 1 {
                    seen[row.integer(0)] = CampaignEndings(rawValue: UInt8(truncatingIfNeeded: row.integer(1)))
                } else if index == 2 {
                    known.insert(campaigns[Int(row.integer(0))])
                }
            }
            var tally = CampaignTally(pushes, seen: seen, nowMilliseconds: nowMilliseconds)
            guard tally.endingCount > 0 else { return 0 }
            try transaction.keepToMaximum(&tally, known: known)
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

extension SQLTransaction {
    /// Gives new campaigns beyond the maximum of their app the name that stands for further ones.
    ///
    /// The campaigns of an app are counted only if one is new.
    ///
    /// - Parameters:
    ///   - tally: the sum.
    ///   - known: its campaigns that are stored, found while no other transaction adds campaigns.
    /// - Returns: the campaign that counts in place of each one that has no room.
    /// - Throws: `RegistryError` if the store cannot be read.
    @discardableResult
    func keepToMaximum(
        _ tally: inout CampaignTally, known: Set<CampaignKey>
    ) throws(RegistryError) -> [CampaignKey: CampaignKey] {
        let apps = Set(tally.campaigns.lazy.filter { !known.contains($0) }.map(\.app))
        guard !apps.isEmpty else { return [:] }
        var counts: [String: Int] = [:]
        try run([.campaignCounts(of: apps)]) { _, row in counts[row.text(0)] = Int(clamping: row.integer(1)) }
        return tally.keepToMaximum(known: known, counts: counts)
    }
}
