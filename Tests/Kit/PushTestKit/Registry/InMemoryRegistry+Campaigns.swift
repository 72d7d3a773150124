import Notifications
public import RegistryCore

/// The counts of campaigns of a registry in memory, which looks at one push after the other.
struct InMemoryCampaigns {
    struct Slot: Hashable {
        var campaign: CampaignKey
        var hour: Int64
        var platform: Platform
    }

    struct OpenKey: Hashable {
        /// The number of the device's entry, so that a device of the same name that comes later is another.
        var deviceNumber: Int64
        var event: [UInt8]
    }

    var campaigns: [CampaignKey: (number: Int64, first: Int64, last: Int64)] = [:]
    var appCounts: [String: Int] = [:]
    var counts: [Slot: CampaignCounts] = [:]
    var pushes: [Int64: (endings: CampaignEndings, hour: Int64)] = [:]
    var opens: [OpenKey: Slot] = [:]
    var lastNumber: Int64 = 0

    /// Where something of a campaign counts; a campaign that is new is added.
    mutating func slot(_ campaign: CampaignKey, hour: Int64, _ platform: Platform) -> Slot {
        var campaign = campaign
        if campaigns[campaign] == nil, campaign.name != CampaignRules.overflowName {
            if appCounts[campaign.app, default: 0] >= campaign.campaignsBesideMaximum {
                campaign.name = CampaignRules.overflowName
            } else {
                appCounts[campaign.app, default: 0] += 1
            }
        }
        if campaigns[campaign] == nil { lastNumber += 1 }
        let known = campaigns[campaign] ?? (lastNumber, hour, hour)
        campaigns[campaign] = (known.number, min(known.first, hour), max(known.last, hour))
        return Slot(campaign: campaign, hour: hour, platform: platform)
    }

    func summary(_ campaign: CampaignKey) -> CampaignSummary? {
        guard let known = campaigns[campaign] else { return nil }
        var sums = CampaignCounts()
        var first: Int64?
        for (slot, counts) in counts where slot.campaign == campaign {
            sums += counts
            first = min(first ?? slot.hour, slot.hour)
        }
        return CampaignSummary(
            number: known.number, campaign: campaign, firstHour: first ?? known.first, lastHour: known.last,
            counts: sums)
    }
}

extension InMemoryRegistry: CampaignRegistry {
    /// Counts pushes, each ending once.
    public func countPushes(_ pushes: [CampaignPush], nowMilliseconds: Int64) throws(RegistryError) -> Int {
        try check()
        for push in pushes { try push.campaign.check() }
        var count = 0
        let steps: [(CampaignEndings, WritableKeyPath<CampaignCounts, Int64>)] = [
            (.matched, \.matched), (.accepted, \.accepted), (.tokenDead, \.tokenDead), (.expired, \.expired),
            (.coalesced, \.coalesced), (.deadLettered, \.deadLettered),
        ]
        let present = nowMilliseconds / 3_600_000
        for push in pushes {
            let hour = min(push.hour, present)
            for (ending, path) in steps where push.endings.contains(ending) {
                let known = campaigns.pushes[push.digest] ?? ([], present)
                if known.endings.contains(ending) { continue }
                campaigns.pushes[push.digest] = (known.endings.union(ending), max(known.hour, present))
                let slot = campaigns.slot(push.campaign, hour: hour, push.platform)
                campaigns.counts[slot, default: CampaignCounts()][keyPath: path] += 1
                count += 1
            }
        }
        return count
    }

    /// Counts opened pushes, each event once for a device.
    public func countOpens(
        _ opens: [CampaignOpen], nowMilliseconds: Int64
    ) throws(RegistryError) -> [CampaignOpenResult] {
        try check()
        for open in opens { try open.check() }
        return opens.map { open in
            guard let entry = entries[open.deviceID], entry.device.app == open.campaign.app,
                entry.device.token.bytes == open.token.bytes
                    || entry.tokens.values.contains(where: { $0.token.bytes == open.token.bytes })
            else { return .unknownDevice }
            let key = InMemoryCampaigns.OpenKey(deviceNumber: entry.number, event: open.event)
            let isKnown = campaigns.opens[key] != nil
            let areNew = open.digests.map { digest in
                let known = campaigns.pushes[digest] ?? ([], 0)
                guard !known.endings.contains(.opened) else { return false }
                let hour = nowMilliseconds / 3_600_000 + CampaignRules.openMemoryHours
                campaigns.pushes[digest] = (known.endings.union(.opened), max(known.hour, hour))
                return true
            }
            guard !isKnown, areNew.allSatisfy({ $0 }) else { return .repeated }
            let slot = campaigns.slot(
                open.campaign, hour: nowMilliseconds / 3_600_000, entry.device.platform)
            campaigns.opens[key] = slot
            campaigns.counts[slot, default: CampaignCounts()].opened += 1
            return .counted
        }
    }

    /// Takes the opens of a device that is erased out of the counts.
    func subtractOpens(of entry: Entry) {
        for (key, slot) in campaigns.opens where key.deviceNumber == entry.number {
            campaigns.opens[key] = nil
            if campaigns.counts[slot] != nil { campaigns.counts[slot]?.opened -= 1 }
        }
    }

    /// Campaigns and their sums, the newest first.
    public func campaigns(
        app: String?, before number: Int64?, limit: Int
    ) throws(RegistryError) -> [CampaignSummary] {
        try check()
        let numbered = campaigns.campaigns.filter { campaign, known in
            known.number < number ?? .max && (app == nil || campaign.app == app)
        }
        return numbered.sorted { $0.value.number > $1.value.number }.prefix(max(limit, 0))
            .compactMap { campaigns.summary($0.key) }
    }

    /// One campaign and its sums, or nil.
    public func campaign(_ key: CampaignKey) throws(RegistryError) -> CampaignSummary? {
        try check()
        return campaigns.summary(key)
    }

    /// The parts of a campaign, by hour and platform.
    public func campaignSlices(
        _ key: CampaignKey, hours: ClosedRange<Int64>
    ) throws(RegistryError) -> [CampaignSlice] {
        try check()
        return campaigns.counts.filter { $0.key.campaign == key && hours.contains($0.key.hour) }
            .map { CampaignSlice(hour: $0.key.hour, platform: $0.key.platform, counts: $0.value) }
            .sorted { ($0.hour, $0.platform.campaignNumber) < ($1.hour, $1.platform.campaignNumber) }
    }

    /// Forgets what is too old, a bounded part at a time.
    public func forgetCampaigns(
        before hour: Int64, pushesBefore pushHour: Int64, limit: Int
    ) throws(RegistryError) -> Int {
        try check()
        var count = 0
        func forget(_ isTooOld: Bool, _ body: () -> Void) {
            guard isTooOld, count < limit else { return }
            body()
            count += 1
        }
        for (digest, push) in campaigns.pushes {
            forget(push.hour < pushHour) { campaigns.pushes[digest] = nil }
        }
        // A device that is gone has taken its opens along.
        let numbers = Set(entries.values.map(\.number))
        campaigns.opens = campaigns.opens.filter { numbers.contains($0.key.deviceNumber) }
        for (key, slot) in campaigns.opens { forget(slot.hour < hour) { campaigns.opens[key] = nil } }
        for slot in campaigns.counts.keys { forget(slot.hour < hour) { campaigns.counts[slot] = nil } }
        for (campaign, known) in campaigns.campaigns {
            forget(known.last < hour) {
                campaigns.campaigns[campaign] = nil
                if campaign.name != CampaignRules.overflowName { campaigns.appCounts[campaign.app, default: 0] -= 1 }
            }
        }
        return count
    }
}
