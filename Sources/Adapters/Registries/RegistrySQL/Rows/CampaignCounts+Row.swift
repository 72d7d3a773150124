import Notifications
public import RegistryCore

extension CampaignCounts {
    /// The columns that count, in the order in which `init(_:from:)` reads them.
    public static let columnNames = [
        "matched", "accepted", "token_dead", "expired", "coalesced", "dead_lettered", "opened",
    ]

    /// Reads the columns of `columnNames`, which begin at `first`.
    public init(_ row: some RowReader, from first: Int32) {
        self.init()
        matched = row.integer(first)
        accepted = row.integer(first + 1)
        tokenDead = row.integer(first + 2)
        expired = row.integer(first + 3)
        coalesced = row.integer(first + 4)
        deadLettered = row.integer(first + 5)
        opened = row.integer(first + 6)
    }
}

extension CampaignCell {
    /// The columns of `campaign_count` that are written, without the number of the campaign.
    public static let storedColumns: [StoredColumn<CampaignCell>] = [
        .integer("hour") { $0.hour }, .integer("platform") { $0.platform.campaignNumber },
        .integer("matched") { $0.counts.matched }, .integer("accepted") { $0.counts.accepted },
        .integer("token_dead") { $0.counts.tokenDead }, .integer("expired") { $0.counts.expired },
        .integer("coalesced") { $0.counts.coalesced }, .integer("dead_lettered") { $0.counts.deadLettered },
        .integer("opened") { $0.counts.opened },
    ]

    /// The `SET` list that adds what would be inserted to what is there.
    public static let addition = CampaignCounts.columnNames
        .map { "\($0) = campaign_count.\($0) + excluded.\($0)" }.joined(separator: ", ")
}

extension CampaignSummary {
    /// The columns of `campaign c` and its counts `x`, grouped by campaign, that `init(_:)` reads.
    public static let readColumns =
        "c.number, c.app, c.name, coalesce(min(x.hour), c.first_hour), c.last_hour, "
        + CampaignCounts.columnNames.map { "CAST(coalesce(sum(x.\($0)), 0) AS bigint)" }.joined(separator: ", ")

    /// Reads a campaign from a row.
    public init(_ row: some RowReader) {
        self.init(
            number: row.integer(0), campaign: CampaignKey(app: row.text(1), name: row.text(2)),
            firstHour: row.integer(3), lastHour: row.integer(4), counts: CampaignCounts(row, from: 5))
    }
}

extension CampaignSlice {
    /// The columns of `campaign_count` that `init(_:)` reads.
    public static let readColumns = "hour, platform, " + CampaignCounts.columnNames.joined(separator: ", ")

    /// Reads a part of a campaign from a row.
    ///
    /// - Throws: `RegistryError` with `.corrupt` if the row names no platform.
    public init(_ row: some RowReader) throws(RegistryError) {
        guard let platform = Platform(campaignNumber: row.integer(1))
        else { throw row.corrupt("a count of a campaign has a bad platform") }
        self.init(hour: row.integer(0), platform: platform, counts: CampaignCounts(row, from: 2))
    }
}
