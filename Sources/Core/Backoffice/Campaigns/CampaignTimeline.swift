import ChangeEvents
import Essentials
public import Notifications
public import RegistryCore

/// A campaign's parts put together for people: in all, by platform, and by hour or day.
public struct CampaignTimeline: Sendable {
    /// How long the parts are that time is divided into.
    public enum Step: String, CaseIterable, Sendable {
        /// An hour.
        case hour
        /// A day of UTC.
        case day

        /// The length, in hours.
        var hours: Int64 { self == .hour ? 1 : 24 }

        /// The first hour of the step that an hour is in, in whole hours since 1970.
        func start(of hour: Int64) -> Int64 {
            let remainder = hour % hours
            let (start, hasOverflowed) = hour.subtractingReportingOverflow(
                remainder < 0 ? remainder + hours : remainder)
            return hasOverflowed ? hour : start
        }
    }

    /// A step of time, on all platforms.
    public struct Part: Hashable, Sendable {
        /// Its first hour, in whole hours since 1970.
        public let hour: Int64
        /// The sums.
        public fileprivate(set) var counts: CampaignCounts
    }

    /// A platform, over the whole time.
    public struct Share: Hashable, Sendable {
        /// The platform.
        public let platform: Platform
        /// The sums.
        public fileprivate(set) var counts: CampaignCounts
    }

    /// The sums of all.
    public private(set) var counts = CampaignCounts()
    /// The platforms that something was counted on, in the order of `Platform`.
    public private(set) var platforms: [Share] = []
    /// The steps that something was counted in, in their order.
    public private(set) var parts: [Part] = []
    /// The same by platform, with the first hour of each step.
    public private(set) var slices: [CampaignSlice] = []

    /// Puts parts together.
    ///
    /// - Parameters:
    ///   - slices: the parts, in the order of their hours, as `CampaignRegistry.campaignSlices` gives them.
    ///   - step: how long the steps are to be.
    public init(_ slices: [CampaignSlice], by step: Step) {
        var shares: [Platform: CampaignCounts] = [:]
        var present: [Platform: CampaignCounts] = [:]
        for slice in slices {
            let hour = step.start(of: slice.hour)
            if parts.last?.hour != hour {
                Self.append(&present, at: parts.last?.hour, to: &self.slices)
                parts.append(Part(hour: hour, counts: CampaignCounts()))
            }
            counts += slice.counts
            shares[slice.platform, default: CampaignCounts()] += slice.counts
            parts[parts.count - 1].counts += slice.counts
            present[slice.platform, default: CampaignCounts()] += slice.counts
        }
        Self.append(&present, at: parts.last?.hour, to: &self.slices)
        platforms = Platform.allCases.compactMap { platform in
            shares[platform].map { Share(platform: platform, counts: $0) }
        }
    }

    /// Ends a step: appends its counts to the slices by platform, and clears them.
    private static func append(
        _ counts: inout [Platform: CampaignCounts], at hour: Int64?, to slices: inout [CampaignSlice]
    ) {
        defer { counts.removeAll() }
        guard let hour else { return }
        for platform in Platform.allCases {
            guard let counts = counts[platform] else { continue }
            slices.append(CampaignSlice(hour: hour, platform: platform, counts: counts))
        }
    }
}

extension CampaignCounts {
    /// The counts and their names, as programs see them.
    public var members: [(name: StaticString, count: Int64)] {
        [
            ("matched", matched), ("accepted", accepted), ("opened", opened), ("tokenDead", tokenDead),
            ("expired", expired), ("coalesced", coalesced), ("deadLettered", deadLettered),
        ]
    }
}

extension RegistryError {
    /// Says that there is no such campaign.
    public static func noCampaign(_ key: CampaignKey) -> RegistryError {
        let bytesMaximum = EventLimits.campaignNameBytesMaximum
        return RegistryError(
            .notFound,
            "The registry has counted no campaign \"\(key.name.shortened(bytesMaximum: bytesMaximum))\" of the app "
                + "\"\(key.app.shortened(bytesMaximum: bytesMaximum))\". 'apus campaign list' shows the names.")
    }
}
