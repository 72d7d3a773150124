import Essentials

/// The hours that campaigns are counted by: whole hours since 1970, the same for all who look.
public enum CampaignHour {
    /// How long one is.
    public static let milliseconds: Int64 = 3_600_000
    /// The last one that there is.
    private static let latest = WallTime.latest.milliseconds / milliseconds

    /// The first moment of an hour, in milliseconds since 1970.
    public static func start(of hour: Int64) -> Int64 { min(max(0, hour), latest) * milliseconds }

    /// The last moment of an hour, in milliseconds since 1970.
    public static func end(of hour: Int64) -> Int64 { start(of: hour) + (milliseconds - 1) }

    /// The hours of a campaign that somebody asks for.
    ///
    /// - Parameters:
    ///   - from: a moment of the first hour, in milliseconds since 1970; nil for the campaign's first.
    ///   - through: a moment of the last hour; nil for the campaign's last.
    ///   - campaign: the campaign.
    ///   - maximum: the most hours; the last ones count.
    /// - Returns: the hours, all of which times can have; nil if the campaign has none of them.
    public static func range(
        from: Int64?, through: Int64?, of campaign: CampaignSummary, maximum: Int64 = .max
    ) -> ClosedRange<Int64>? {
        let last = min(through.map(CampaignRules.hour) ?? latest, campaign.lastHour, latest)
        let first = max(from.map(CampaignRules.hour) ?? 0, campaign.firstHour, 0)
        guard first <= last else { return nil }
        // It cannot overflow, because hours are bounded.
        return max(first, last - max(0, maximum - 1))...last
    }
}
