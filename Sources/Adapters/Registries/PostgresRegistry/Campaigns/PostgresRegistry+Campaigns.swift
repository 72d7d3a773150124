public import RegistryCore
import RegistrySQL

extension PostgresRegistry: CampaignRegistry {
    // MARK: Counting

    /// Counts pushes, each ending once.
    public func countPushes(_ pushes: [CampaignPush], nowMilliseconds: Int64) throws(RegistryError) -> Int {
        try requireSchema(CampaignRules.schemaVersion, for: "Counting pushes by campaign")
        let campaigns = Array(Set(pushes.lazy.map(\.campaign)))
        for campaign in campaigns { try campaign.check() }
        guard !pushes.isEmpty else { return 0 }
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            let answers = try transaction.run([
                CampaignCalls.lock, CampaignCalls.seen(Array(Set(pushes.lazy.map(\.digest)))),
                CampaignCalls.known(campaigns), CampaignCalls.counts(of: campaigns),
            ])
            var seen: [Int64: CampaignEndings] = [:]
            for row in answers[1] {
                seen[row.integer(0)] = CampaignEndings(rawValue: UInt8(truncatingIfNeeded: row.integer(1)))
            }
            var tally = CampaignTally(pushes, seen: seen, nowMilliseconds: nowMilliseconds)
            guard tally.endingCount > 0 else { return 0 }
            Self.keepToMaximum(&tally, known: answers[2], counts: answers[3])
            try transaction.commit([CampaignCalls.remember(tally.pushes)] + CampaignCalls.add(tally))
            return tally.endingCount
        }
    }

    /// Gives the campaigns of a sum beyond the maximum of their app another name.
    @discardableResult
    static func keepToMaximum(
        _ tally: inout CampaignTally, known: Rows, counts: Rows
    ) -> [CampaignKey: CampaignKey] {
        tally.keepToMaximum(
            known: Set(known.map { CampaignKey(app: $0.text(0), name: $0.text(1)) }),
            counts: Dictionary(counts.map { ($0.text(0), Int($0.integer(1))) }, uniquingKeysWith: max))
    }

    // MARK: Reading

    /// Campaigns and their sums, the newest first.
    public func campaigns(
        app: String?, before number: Int64?, limit: Int
    ) throws(RegistryError) -> [CampaignSummary] {
        guard try schemaState().version >= CampaignRules.schemaVersion else { return [] }
        return try ask([CampaignCalls.page(app: app, before: number, limit: limit)])[0].map { CampaignSummary($0) }
    }

    /// One campaign and its sums, or nil.
    public func campaign(_ key: CampaignKey) throws(RegistryError) -> CampaignSummary? {
        guard try schemaState().version >= CampaignRules.schemaVersion else { return nil }
        return try ask([CampaignCalls.summary(of: key)])[0].first.map { CampaignSummary($0) }
    }

    /// The parts of a campaign, by hour and platform.
    public func campaignSlices(
        _ key: CampaignKey, hours: ClosedRange<Int64>
    ) throws(RegistryError) -> [CampaignSlice] {
        guard try schemaState().version >= CampaignRules.schemaVersion else { return [] }
        return try ask([CampaignCalls.slices(of: key, hours: hours)])[0].map { (row) throws(RegistryError) in
            try CampaignSlice(row)
        }
    }

    // MARK: Forgetting

    /// Forgets what is too old, a bounded part at a time.
    public func forgetCampaigns(
        before hour: Int64, pushesBefore pushHour: Int64, limit: Int
    ) throws(RegistryError) -> Int {
        try requireSchema(CampaignRules.schemaVersion, for: "Forgetting campaigns")
        return try writing(durable: false) { (transaction) throws(RegistryError) in
            _ = try transaction.run([CampaignCalls.lock])
            var removedCount = 0
            for (sql, isOfPushes) in CampaignCalls.forgetting where removedCount < limit {
                let parameters: [Parameter] = [
                    .integer(isOfPushes ? pushHour : hour), .integer(Int64(limit - removedCount)),
                ]
                removedCount += try transaction.run([Call(sql, parameters)])[0].affectedCount
            }
            try transaction.commit([])
            return removedCount
        }
    }
}
