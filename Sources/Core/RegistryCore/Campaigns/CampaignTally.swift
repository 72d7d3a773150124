public import Notifications

/// The sum of what a call adds to the counts, by campaign, hour and platform: the part of counting that registries
/// have in common.
public struct CampaignTally {
    private struct Slot: Hashable {
        let campaign: CampaignKey
        let hour: Int64
        let platform: Platform
    }

    /// The campaigns in the order of their first pushes.
    public private(set) var campaigns: [CampaignKey] = []
    /// The pushes that count and that the registry has to remember, each once.
    public private(set) var pushes: [RememberedPush] = []
    /// How many endings count.
    public private(set) var endingCount = 0
    private var hours: [CampaignKey: ClosedRange<Int64>] = [:]
    private var slots: [Slot: CampaignCounts] = [:]

    /// Creates a sum of nothing.
    public init() {}

    /// Sums up the pushes, each ending of a push once.
    ///
    /// - Parameters:
    ///   - pushes: in their order; a push may occur twice.
    ///   - seen: the endings that were counted before, by the digest of the push.
    ///   - nowMilliseconds: when it is; an hour to come, by a clock that is fast, becomes the present one.
    public init(_ pushes: [CampaignPush], seen: [Int64: CampaignEndings], nowMilliseconds: Int64) {
        let present = CampaignRules.hour(ofMilliseconds: nowMilliseconds)
        var seen = seen
        var indexes: [Int64: Int] = [:]
        for push in pushes {
            let endings = push.endings.intersection(.all).subtracting(seen[push.digest] ?? [])
            guard !endings.isEmpty else { continue }
            seen[push.digest, default: []].formUnion(endings)
            endingCount += endings.rawValue.nonzeroBitCount
            let hour = min(max(push.hour, 0), present)
            add(CampaignCounts(endings), to: push.campaign, hour: hour, push.platform)
            if let index = indexes[push.digest] {
                self.pushes[index].endings.formUnion(endings)
            } else {
                indexes[push.digest] = self.pushes.count
                self.pushes.append(RememberedPush(digest: push.digest, endings: endings, hour: present))
            }
        }
    }

    /// Adds counts to a campaign.
    public mutating func add(_ counts: CampaignCounts, to campaign: CampaignKey, hour: Int64, _ platform: Platform) {
        addCampaign(campaign, hours: hour...hour)
        slots[Slot(campaign: campaign, hour: hour, platform: platform), default: CampaignCounts()] += counts
    }

    /// Adds a campaign without any counts.
    public mutating func addCampaign(_ campaign: CampaignKey, hours range: ClosedRange<Int64>) {
        guard let known = hours[campaign] else {
            hours[campaign] = range
            campaigns.append(campaign)
            return
        }
        hours[campaign] =
            min(known.lowerBound, range.lowerBound)...max(known.upperBound, range.upperBound)
    }

    /// Gives campaigns beyond the maximum of their app the name `CampaignRules.overflowName`.
    ///
    /// - Parameters:
    ///   - known: the campaigns of this sum that the registry has.
    ///   - counts: how many campaigns the registry has of each app, those with that name aside.
    /// - Returns: the campaign that counts in place of each one that has no room.
    @discardableResult
    public mutating func keepToMaximum(
        known: Set<CampaignKey>, counts: [String: Int]
    ) -> [CampaignKey: CampaignKey] {
        var counts = counts
        var replaced: [CampaignKey: CampaignKey] = [:]
        for campaign in campaigns where !known.contains(campaign) && campaign.name != CampaignRules.overflowName {
            guard counts[campaign.app, default: 0] >= campaign.campaignsBesideMaximum else {
                counts[campaign.app, default: 0] += 1
                continue
            }
            replaced[campaign] = CampaignKey(app: campaign.app, name: CampaignRules.overflowName)
        }
        guard !replaced.isEmpty else { return replaced }
        let before = (campaigns: campaigns, hours: hours, slots: slots)
        (campaigns, hours, slots) = ([], [:], [:])
        for campaign in before.campaigns {
            if let range = before.hours[campaign] { addCampaign(replaced[campaign] ?? campaign, hours: range) }
        }
        for (slot, counts) in before.slots {
            add(counts, to: replaced[slot.campaign] ?? slot.campaign, hour: slot.hour, slot.platform)
        }
        return replaced
    }

    /// The first and the last hour that something is counted in, of each campaign.
    public var spans: [CampaignSpan] {
        campaigns.compactMap { campaign in hours[campaign].map { CampaignSpan(campaign: campaign, hours: $0) } }
    }

    /// The cells to add, in one order in every process, so that processes that add at once do not deadlock.
    public var cells: [CampaignCell] {
        slots.map { CampaignCell(campaign: $0.campaign, hour: $0.hour, platform: $0.platform, counts: $1) }
            .sorted { $0.order < $1.order }
    }
}

/// The hours of a campaign.
public struct CampaignSpan: Hashable, Sendable {
    /// The campaign.
    public var campaign: CampaignKey
    /// The first and the last hour that something is counted in.
    public var hours: ClosedRange<Int64>
}

/// The endings of a push that were counted, which a registry remembers.
public struct RememberedPush: Hashable, Sendable {
    /// The digest of the push.
    public var digest: Int64
    /// The endings that were counted.
    public var endings: CampaignEndings
    /// The hour of the call that counted it, not that of the push, so that a late count is remembered for as long.
    public var hour: Int64
}

/// The counts to add to a campaign in one hour on one platform.
public struct CampaignCell: Hashable, Sendable {
    /// The campaign.
    public var campaign: CampaignKey
    /// The hour.
    public var hour: Int64
    /// The platform.
    public var platform: Platform
    /// The counts.
    public var counts: CampaignCounts

    fileprivate var order: (String, Int64, Int64) {
        ("\(campaign.app)\n\(campaign.name)", hour, platform.campaignNumber)
    }
}

extension CampaignEndings {
    /// Everything that is counted.
    static let all: CampaignEndings = [.matched, .accepted, .tokenDead, .expired, .coalesced, .deadLettered]
}

extension CampaignCounts {
    /// Counts of one push.
    init(_ endings: CampaignEndings) {
        func count(_ ending: CampaignEndings) -> Int64 { endings.contains(ending) ? 1 : 0 }
        matched = count(.matched)
        accepted = count(.accepted)
        tokenDead = count(.tokenDead)
        expired = count(.expired)
        coalesced = count(.coalesced)
        deadLettered = count(.deadLettered)
    }

    /// One push that was opened.
    public static var oneOpened: CampaignCounts {
        var counts = CampaignCounts()
        counts.opened = 1
        return counts
    }
}
