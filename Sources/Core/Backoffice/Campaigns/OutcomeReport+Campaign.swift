import Essentials
import Hashing
import Notifications
public import RegistryCore

extension OutcomeReport {
    /// The pushes that are counted: those of a campaign, with what is told of them.
    ///
    /// Each told push counts as matched, also one that waits for a retry; one without a device does not. Names that no
    /// worker writes are left out: a registry would refuse them, and with them all that is counted at once.
    public var campaignPushes: [CampaignPush] {
        guard kind != .unmatched else { return [] }
        return pushes.compactMap { push in
            guard let name = campaignName(of: push) else { return nil }
            let campaign = CampaignKey(app: app, name: name)
            guard campaign.isValid else { return nil }
            return CampaignPush(
                campaign: campaign, platform: push.platform,
                hour: CampaignRules.hour(ofMilliseconds: push.ended.milliseconds), digest: digest(of: push),
                endings: [.matched, kind.campaignEnding])
        }
    }

    private func campaignName(of push: Push) -> String? {
        if let eventCampaign { return eventCampaign }
        if let datasetName { return "dataset:\(datasetName)" }
        return push.subscriptionID.map { "subscription:\($0)" }
    }

    /// The same for each outcome of a push, in whichever message and attempt it is told.
    private func digest(of push: Push) -> Int64 {
        var digest = WordDigest()
        digest.mix(eventSource)
        digest.mix(eventIdentifier)
        digest.mix(app)
        digest.mix(push.deviceID)
        digest.mix(push.subscriptionID ?? "")
        digest.finish()
        return Int64(bitPattern: digest.high)
    }
}

extension OutcomeKind {
    /// The ending that it counts as, beside the match; empty for a push that waits for a retry.
    fileprivate var campaignEnding: CampaignEndings {
        switch self {
        case .accepted: .accepted
        case .tokenDead, .rejected: .tokenDead
        case .expired: .expired
        case .coalesced: .coalesced
        case .deadLettered: .deadLettered
        case .retrying, .unmatched: []
        }
    }
}
