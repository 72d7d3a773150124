import ChangeEvents
public import Essentials
import Hashing
public import Notifications

/// The name of pushes of one app that are counted together.
///
/// A requested push names its campaign. Other pushes have a derived one, whose kind of event stands before a colon, so
/// that no requested campaign has its name:
///
/// | event | campaign |
/// |---|---|
/// | `push.requested` with `campaign` | that text |
/// | `dataset.changed`, `.deleted`, `.merged` | `dataset:` and the name of the dataset |
/// | `record.changed` | `subscription:` and the identifier of the subscription |
///
/// A requested push without `campaign` has none, and is not counted.
public struct CampaignKey: Hashable, Sendable {
    /// The app.
    @ByBytes public var app: String
    /// The name within the app, 1 to `EventLimits.campaignNameBytesMaximum` bytes.
    @ByBytes public var name: String

    /// Names a campaign.
    public init(app: String, name: String) {
        self.app = app
        self.name = name
    }

    /// Whether both names follow the rules for them.
    public var isValid: Bool { TextRule.app.isFollowed(by: app) && TextRule.campaignName.isFollowed(by: name) }

    /// Before how many campaigns of its app it gets a place of its own.
    ///
    /// Each client may name subscriptions as it likes, so derived campaigns leave half of the places to requested ones.
    public var campaignsBesideMaximum: Int {
        let isDerived = name.utf8.contains(UInt8(ascii: ":"))
        return isDerived ? CampaignRules.campaignsPerAppMaximum / 2 : CampaignRules.campaignsPerAppMaximum
    }

    /// Makes sure that something may be counted under the names.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public func check() throws(RegistryError) {
        try RegistryRules.check(app, "app", .app)
        try RegistryRules.check(name, "campaign", .campaignName)
    }
}

/// The endings of a push that a campaign counts, each at most once, however often it is told.
public struct CampaignEndings: OptionSet, Hashable, Sendable {
    /// A bit for each.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The look-up of its event's devices found its device.
    public static let matched = CampaignEndings(rawValue: 1 << 0)
    /// `OutcomeKind.accepted`.
    public static let accepted = CampaignEndings(rawValue: 1 << 1)
    /// `OutcomeKind.tokenDead`.
    public static let tokenDead = CampaignEndings(rawValue: 1 << 2)
    /// `OutcomeKind.expired`.
    public static let expired = CampaignEndings(rawValue: 1 << 3)
    /// `OutcomeKind.coalesced`.
    public static let coalesced = CampaignEndings(rawValue: 1 << 4)
    /// `OutcomeKind.deadLettered`; a replayed push can be accepted later, and counts as both.
    public static let deadLettered = CampaignEndings(rawValue: 1 << 5)
    /// A device reported that it was opened (`CampaignOpen.digests`); no outcome of a push.
    public static let opened = CampaignEndings(rawValue: 1 << 6)
}

/// A push of a campaign, to be counted.
public struct CampaignPush: Hashable, Sendable {
    /// The campaign.
    public var campaign: CampaignKey
    /// The push service and environment of its device.
    public var platform: Platform
    /// The hour in which the endings happened, in whole hours since 1970.
    public var hour: Int64
    /// A digest of the event, the device and the subscription, which names the push.
    public var digest: Int64
    /// The endings that are told of it.
    public var endings: CampaignEndings

    /// Describes a push.
    public init(campaign: CampaignKey, platform: Platform, hour: Int64, digest: Int64, endings: CampaignEndings) {
        self.campaign = campaign
        self.platform = platform
        self.hour = hour
        self.digest = digest
        self.endings = endings
    }
}

/// Numbers of pushes.
public struct CampaignCounts: Hashable, Sendable {
    /// How many devices the look-ups of its events found.
    public var matched: Int64 = 0
    /// How many pushes were accepted by their push service.
    public var accepted: Int64 = 0
    /// How many found their token dead.
    public var tokenDead: Int64 = 0
    /// How many expired before they were sent.
    public var expired: Int64 = 0
    /// How many were left out because a newer event said the same.
    public var coalesced: Int64 = 0
    /// How many became dead letters.
    public var deadLettered: Int64 = 0
    /// How many were opened, as their devices reported.
    public var opened: Int64 = 0

    /// Creates counts of zero.
    public init() {}

    /// Adds the counts of other pushes; a sum that would not fit stays at its maximum.
    public static func += (left: inout CampaignCounts, right: CampaignCounts) {
        func add(_ count: inout Int64, _ other: Int64) {
            let (sum, hasOverflowed) = count.addingReportingOverflow(other)
            count = hasOverflowed ? .max : sum
        }
        add(&left.matched, right.matched)
        add(&left.accepted, right.accepted)
        add(&left.tokenDead, right.tokenDead)
        add(&left.expired, right.expired)
        add(&left.coalesced, right.coalesced)
        add(&left.deadLettered, right.deadLettered)
        add(&left.opened, right.opened)
    }
}

/// A campaign and its sums.
public struct CampaignSummary: Hashable, Sendable {
    /// Its number; those that were counted first later have higher ones.
    public var number: Int64
    /// The campaign.
    public var campaign: CampaignKey
    /// The first hour with counts that are kept, in whole hours since 1970.
    public var firstHour: Int64
    /// The last hour that something was counted in.
    public var lastHour: Int64
    /// The sums of all hours and platforms that are kept; no more are opened than accepted.
    ///
    /// Devices report faster than outcomes are counted. And a receipt names no device, so devices that got no push may
    /// report it.
    public var counts: CampaignCounts

    /// Describes a campaign.
    public init(number: Int64, campaign: CampaignKey, firstHour: Int64, lastHour: Int64, counts: CampaignCounts) {
        self.number = number
        self.campaign = campaign
        self.firstHour = firstHour
        self.lastHour = lastHour
        self.counts = counts
        self.counts.opened = min(counts.opened, counts.accepted)
    }
}

/// The part of a campaign that happened in one hour on one platform.
public struct CampaignSlice: Hashable, Sendable {
    /// The hour, in whole hours since 1970.
    public var hour: Int64
    /// The push service and environment.
    public var platform: Platform
    /// The counts.
    public var counts: CampaignCounts

    /// Describes a part.
    public init(hour: Int64, platform: Platform, counts: CampaignCounts) {
        self.hour = hour
        self.platform = platform
        self.counts = counts
    }
}

/// A device's report that its user opened a push.
public struct CampaignOpen: Hashable, Sendable {
    /// The campaign, as the push's receipt says.
    public var campaign: CampaignKey
    /// The event that asked for the push, as the receipt says (`EventDigest.bytes`, 16 bytes).
    public var event: [UInt8]
    /// The device.
    @ByBytes public var deviceID: String
    /// The address at which the device gets pushes, which proves that it is the device.
    public var token: DeviceToken

    /// Describes a report.
    public init(campaign: CampaignKey, event: [UInt8], deviceID: String, token: DeviceToken) {
        self.campaign = campaign
        self.event = event
        self.deviceID = deviceID
        self.token = token
    }

    /// The digests by which the registry remembers the report beyond the registration of its device.
    ///
    /// One is of the name of the device and one of its token, so that a device that registers again under either counts
    /// no event again.
    public var digests: [Int64] {
        [("device", deviceID), ("token", token.hexadecimal)].map { kind, name in
            var digest = WordDigest()
            digest.mix("opened by \(kind)")
            digest.mix(campaign.app)
            digest.mix(name)
            event.withUnsafeBytes { digest.mix($0) }
            digest.finish()
            return Int64(bitPattern: digest.high)
        }
    }

    /// Makes sure that the report may be kept.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public func check() throws(RegistryError) {
        try campaign.check()
        guard event.count == OpenReceipt.eventBytes else {
            throw RegistryError(
                .invalid, "An opened event has \(event.count) bytes: expected \(OpenReceipt.eventBytes).")
        }
    }
}

/// The result of a report of an open.
public enum CampaignOpenResult: Hashable, Sendable {
    /// It was counted.
    case counted
    /// The device had reported it before; nothing was counted.
    case repeated
    /// There is no such device of the campaign's app with this token.
    case unknownDevice
}
