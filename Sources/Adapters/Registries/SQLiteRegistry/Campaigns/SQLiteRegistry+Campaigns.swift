public import RegistryCore
import RegistrySQL

extension SQLiteRegistry: CampaignRegistry {
    // MARK: Counting

    /// Counts pushes, each ending once.
    public func countPushes(_ pushes: [CampaignPush], nowMilliseconds: Int64) throws(RegistryError) -> Int {
        try requireSchema(CampaignRules.schemaVersion, for: "Counting pushes by campaign")
        for campaign in Set(pushes.lazy.map(\.campaign)) { try campaign.check() }
        guard !pushes.isEmpty else { return 0 }
        return try writing(durable: true) { () throws(RegistryError) in
            var tally = CampaignTally(pushes, seen: try seenEndings(of: pushes), nowMilliseconds: nowMilliseconds)
            try keepToMaximum(&tally)
            try add(tally)
            let statement = try statements.statement(
                """
                INSERT INTO campaign_push (digest, seen, hour) VALUES (?, ?, ?)
                ON CONFLICT (digest) DO UPDATE SET seen = seen | excluded.seen, hour = max(hour, excluded.hour)
                """)
            for push in tally.pushes {
                statement.bind(1, push.digest)
                statement.bind(2, Int64(push.endings.rawValue))
                statement.bind(3, push.hour)
                try statement.run()
            }
            return tally.endingCount
        }
    }

    private func seenEndings(of pushes: [CampaignPush]) throws(RegistryError) -> [Int64: CampaignEndings] {
        let statement = try statements.statement("SELECT seen FROM campaign_push WHERE digest = ?")
        var seen: [Int64: CampaignEndings] = [:]
        for push in pushes {
            statement.bind(1, push.digest)
            guard let bits = try statement.firstInteger() else { continue }
            seen[push.digest] = CampaignEndings(rawValue: UInt8(truncatingIfNeeded: bits))
        }
        return seen
    }

    /// Gives the campaigns of a sum beyond the maximum of their app another name, in a write transaction.
    @discardableResult
    func keepToMaximum(_ tally: inout CampaignTally) throws(RegistryError) -> [CampaignKey: CampaignKey] {
        var known: Set<CampaignKey> = []
        for campaign in tally.campaigns where try number(of: campaign) != nil { known.insert(campaign) }
        guard known.count < tally.campaigns.count else { return [:] }
        let statement = try statements.statement("SELECT count(*) FROM campaign WHERE app = ? AND name <> ?")
        var counts: [String: Int] = [:]
        for app in Set(tally.campaigns.map(\.app)) {
            statement.bind(1, app)
            statement.bind(2, CampaignRules.overflowName)
            counts[app] = Int(try statement.firstInteger() ?? 0)
        }
        return tally.keepToMaximum(known: known, counts: counts)
    }

    /// Adds a sum to the counts, in a write transaction.
    func add(_ tally: CampaignTally) throws(RegistryError) {
        var numbers: [CampaignKey: Int64] = [:]
        for span in tally.spans { numbers[span.campaign] = try note(span) }
        let columns = CampaignCell.storedColumns
        let statement = try statements.statement(
            """
            INSERT INTO campaign_count (campaign, \(columns.names())) VALUES (?1, \(columns.parameters(from: 2)))
            ON CONFLICT (campaign, hour, platform) DO UPDATE SET \(CampaignCell.addition)
            """)
        for cell in tally.cells {
            statement.bind(1, numbers[cell.campaign])
            statement.bind(columns, of: cell, from: 2)
            try statement.run()
        }
    }

    /// Adds a campaign, or the hours of one.
    private func note(_ span: CampaignSpan) throws(RegistryError) -> Int64 {
        let update = try statements.statement(
            """
            UPDATE campaign SET first_hour = min(first_hour, ?2), last_hour = max(last_hour, ?3)
            WHERE number = ?1 AND (first_hour > ?2 OR last_hour < ?3)
            """)
        if let number = try number(of: span.campaign) {
            update.bind(1, number)
            update.bind(2, span.hours.lowerBound)
            update.bind(3, span.hours.upperBound)
            try update.run()
            return number
        }
        let insertion = try statements.statement(
            "INSERT INTO campaign (app, name, first_hour, last_hour) VALUES (?, ?, ?, ?)")
        insertion.bind(1, span.campaign.app)
        insertion.bind(2, span.campaign.name)
        insertion.bind(3, span.hours.lowerBound)
        insertion.bind(4, span.hours.upperBound)
        try insertion.run()
        return connection.lastInsertedRow
    }

    /// The number of a campaign, or nil.
    func number(of campaign: CampaignKey) throws(RegistryError) -> Int64? {
        let statement = try statements.statement("SELECT number FROM campaign WHERE app = ? AND name = ?")
        statement.bind(1, campaign.app)
        statement.bind(2, campaign.name)
        return try statement.firstInteger()
    }

    // MARK: Reading

    /// The campaigns with some numbers; in the order of their numbers, so that nothing has to be sorted.
    private static func summaries(_ numbers: String) -> String {
        let sums = CampaignCounts.columnNames.map { "coalesce(sum(x.\($0)), 0)" }.joined(separator: ", ")
        return """
            SELECT c.number, c.app, c.name, coalesce(min(x.hour), c.first_hour), c.last_hour, \(sums)
            FROM campaign c LEFT JOIN campaign_count x ON x.campaign = c.number
            WHERE c.number IN (\(numbers)) GROUP BY c.number ORDER BY c.number DESC
            """
    }

    /// Campaigns and their sums, the newest first.
    public func campaigns(
        app: String?, before number: Int64?, limit: Int
    ) throws(RegistryError) -> [CampaignSummary] {
        guard try schemaState().version >= CampaignRules.schemaVersion else { return [] }
        let condition = app == nil ? "" : "AND app = ?3"
        let statement = try statements.statement(
            Self.summaries(
                "SELECT number FROM campaign WHERE number < ?1 \(condition) ORDER BY number DESC LIMIT ?2"))
        statement.bind(1, number ?? .max)
        statement.bind(2, Int64(max(limit, 0)))
        if let app { statement.bind(3, app) }
        var summaries: [CampaignSummary] = []
        try statement.forEachRow { row in summaries.append(CampaignSummary(row)) }
        return summaries
    }

    /// One campaign and its sums, or nil.
    public func campaign(_ key: CampaignKey) throws(RegistryError) -> CampaignSummary? {
        guard try schemaState().version >= CampaignRules.schemaVersion else { return nil }
        let statement = try statements.statement(
            Self.summaries("SELECT number FROM campaign WHERE app = ?1 AND name = ?2"))
        statement.bind(1, key.app)
        statement.bind(2, key.name)
        defer { statement.reset() }
        return try statement.step() ? CampaignSummary(statement) : nil
    }

    /// The parts of a campaign, by hour and platform.
    public func campaignSlices(
        _ key: CampaignKey, hours: ClosedRange<Int64>
    ) throws(RegistryError) -> [CampaignSlice] {
        guard try schemaState().version >= CampaignRules.schemaVersion else { return [] }
        let statement = try statements.statement(
            """
            SELECT \(CampaignSlice.readColumns) FROM campaign_count
            WHERE campaign = (SELECT number FROM campaign WHERE app = ?1 AND name = ?2) AND hour BETWEEN ?3 AND ?4
            ORDER BY hour, platform
            """)
        statement.bind(1, key.app)
        statement.bind(2, key.name)
        statement.bind(3, hours.lowerBound)
        statement.bind(4, hours.upperBound)
        var slices: [CampaignSlice] = []
        try statement.forEachRow { row throws(RegistryError) in slices.append(try CampaignSlice(row)) }
        return slices
    }

    // MARK: Forgetting

    /// The statements that forget, in an order in which no count is left without its campaign.
    private static let forgetting = [
        ("campaign_push", "digest", "hour", true), ("campaign_open", "device, event", "hour", false),
        ("campaign_count", "campaign, hour, platform", "hour", false), ("campaign", "number", "last_hour", false),
    ].map { table, key, hour, isOfPushes in
        (
            "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(hour) < ?1 LIMIT ?2)",
            isOfPushes
        )
    }

    /// Forgets what is too old, a bounded part at a time.
    public func forgetCampaigns(
        before hour: Int64, pushesBefore pushHour: Int64, limit: Int
    ) throws(RegistryError) -> Int {
        try requireSchema(CampaignRules.schemaVersion, for: "Forgetting campaigns")
        return try writing(durable: false) { () throws(RegistryError) in
            var removedCount = 0
            for (sql, isOfPushes) in Self.forgetting where removedCount < limit {
                let statement = try statements.statement(sql)
                statement.bind(1, isOfPushes ? pushHour : hour)
                statement.bind(2, Int64(limit - removedCount))
                removedCount += try statement.run()
            }
            return removedCount
        }
    }
}
