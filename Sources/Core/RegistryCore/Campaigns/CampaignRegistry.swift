import Essentials

/// The registry's counts of what became of pushes, by campaign, platform and hour.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`; several processes may count at once.
///
/// Counts contain no device, identity or user. A reported open names its device until it is forgotten, so that the
/// registry counts it once.
public protocol CampaignRegistry: AnyObject {
    /// Counts pushes, all or none; an ending of a push that was counted before is not counted again.
    ///
    /// The counts are kept when the call returns. A campaign beyond `CampaignRules.campaignsPerAppMaximum` of its app
    /// is counted as `CampaignRules.overflowName`.
    ///
    /// - Parameters:
    ///   - pushes: up to a few thousand; a push may occur twice.
    ///   - nowMilliseconds: when it is, in milliseconds since 1970; an hour to come counts as the present one.
    /// - Returns: how many endings were counted; the others were known.
    /// - Throws: `RegistryError` if the store cannot be written, `.olderSchema` if it has to be migrated first,
    ///   `.invalid` if the name of a campaign breaks the rules.
    func countPushes(_ pushes: [CampaignPush], nowMilliseconds: Int64) throws(RegistryError) -> Int

    /// Counts opened pushes, each event once for a device, on the device's platform and in the present hour.
    ///
    /// The device proves itself by any of its tokens. It counts no event again under the same name or token, also when
    /// it was removed and registers again. Its opens stay counted when it is removed, and are taken out of the counts
    /// when its identity or user is erased.
    ///
    /// - Parameters:
    ///   - opens: up to a hundred or so.
    ///   - nowMilliseconds: when it is, in milliseconds since 1970.
    /// - Returns: the result of each, in their order.
    /// - Throws: `RegistryError` if the store cannot be written, `.olderSchema` if it has to be migrated first,
    ///   `.invalid` if a campaign or an event breaks the rules.
    func countOpens(_ opens: [CampaignOpen], nowMilliseconds: Int64) throws(RegistryError) -> [CampaignOpenResult]

    /// Campaigns and their sums, the newest first, older than one if its number is given.
    ///
    /// - Parameters:
    ///   - app: the only app that counts; nil for all.
    ///   - number: the number of the last campaign of the previous page.
    ///   - limit: the most campaigns in one answer.
    /// - Returns: the campaigns; none in a registry of an older schema.
    /// - Throws: `RegistryError` if the store cannot answer.
    func campaigns(app: String?, before number: Int64?, limit: Int) throws(RegistryError) -> [CampaignSummary]

    /// One campaign and its sums, or nil.
    func campaign(_ key: CampaignKey) throws(RegistryError) -> CampaignSummary?

    /// The parts of a campaign, by hour and platform.
    ///
    /// - Parameters:
    ///   - key: the campaign.
    ///   - hours: the hours to answer for, in whole hours since 1970.
    /// - Returns: the parts in the order of their hours and platforms; none if there is no such campaign.
    /// - Throws: `RegistryError` if the store cannot answer.
    func campaignSlices(_ key: CampaignKey, hours: ClosedRange<Int64>) throws(RegistryError) -> [CampaignSlice]

    /// Forgets what is too old, a bounded part at a time.
    ///
    /// - Parameters:
    ///   - hour: the first hour whose counts and opens are kept, in whole hours since 1970; a campaign ends with its
    ///     last hour.
    ///   - pushHour: the first hour whose counted pushes stay remembered; a repetition of an older one counts again.
    ///   - limit: the most rows to remove.
    /// - Returns: how many rows were removed; fewer than `limit` if nothing more is too old.
    /// - Throws: `RegistryError` if the store cannot be written, `.olderSchema` if it has to be migrated first.
    func forgetCampaigns(before hour: Int64, pushesBefore pushHour: Int64, limit: Int) throws(RegistryError) -> Int
}

/// Limits of the counts of campaigns.
public enum CampaignRules {
    /// The version of the registry's schema that brought them.
    public static let schemaVersion: Int64 = 4
    /// How long a push is remembered, so that a repetition of its outcome does not count again.
    public static let pushMemoryHours: Int64 = 72
    /// How many hours after its report an open is noted, so that it is forgotten when no receipt of that time is good
    /// any more.
    public static let openMemoryHours = OpenReceipt.hoursMaximum - pushMemoryHours
    /// How many campaigns an app can have; derived ones are added to fewer than half as many.
    public static let campaignsPerAppMaximum = 10_000
    /// The name that further campaigns of an app are counted under.
    public static let overflowName = "other:"

    /// The hour of a time in milliseconds since 1970, in whole hours since 1970.
    public static func hour(ofMilliseconds milliseconds: Int64) -> Int64 {
        WallTime(milliseconds: milliseconds).seconds / 3_600
    }
}
