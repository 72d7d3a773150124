import Notifications
import RegistryCore
import Testing

@testable import Backoffice

@Suite("Campaigns over time")
struct CampaignTimelineTests {
    /// 2023-11-15T00:00:00Z.
    private static let midnight: Int64 = 472_224

    private static func slice(_ hour: Int64, _ platform: Platform, matched: Int64, accepted: Int64 = 0) -> CampaignSlice
    {
        var counts = CampaignCounts()
        counts.matched = matched
        counts.accepted = accepted
        return CampaignSlice(hour: hour, platform: platform, counts: counts)
    }

    private static let slices = [
        slice(midnight - 1, .gcm, matched: 4), slice(midnight, .webPush, matched: 1, accepted: 1),
        slice(midnight, .apns, matched: 10, accepted: 9), slice(midnight + 23, .apns, matched: 5, accepted: 5),
        slice(midnight + 24, .apns, matched: 1),
    ]

    private static func summary(first: Int64, last: Int64) -> CampaignSummary {
        CampaignSummary(
            number: 1, campaign: CampaignKey(app: "chat", name: "sale"), firstHour: first, lastHour: last,
            counts: CampaignCounts())
    }

    @Test("Parts are summed in all, by platform and by hour, and hours without pushes are left out")
    func hours() {
        let timeline = CampaignTimeline(Self.slices, by: .hour)
        #expect(timeline.counts.matched == 21 && timeline.counts.accepted == 15)
        #expect(timeline.platforms.map(\.platform) == [.apns, .gcm, .webPush])
        #expect(timeline.platforms.map(\.counts.matched) == [16, 4, 1])
        #expect(timeline.parts.map(\.hour) == [-1, 0, 23, 24].map { Self.midnight + $0 })
        #expect(timeline.parts.map(\.counts.matched) == [4, 11, 5, 1])
        #expect(timeline.slices.count == 5 && timeline.slices[1].platform == .apns)
        #expect(CampaignTimeline([], by: .hour).parts.isEmpty)
    }

    @Test("A day begins at midnight of UTC")
    func days() {
        let timeline = CampaignTimeline(Self.slices, by: .day)
        #expect(timeline.parts.map(\.hour) == [-24, 0, 24].map { Self.midnight + $0 })
        #expect(timeline.parts.map(\.counts.matched) == [4, 16, 1])
        #expect(timeline.slices.map(\.platform) == [.gcm, .apns, .webPush, .apns])
        #expect(timeline.slices.map(\.counts.accepted) == [0, 14, 1, 0])
        let hours: [Int64] = [-25, -24, -1, 0, 23, .min, .max]
        #expect(hours.map { CampaignTimeline.Step.day.start(of: $0) } == [-48, -24, -24, 0, 0, .min, .max - 7])
    }

    @Test("The hours that are asked for end with the campaign, and the last ones count if they are too many")
    func range() {
        let campaign = Self.summary(first: 100, last: 400)
        func start(_ hour: Int64) -> Int64 { CampaignHour.start(of: hour) }
        #expect(CampaignHour.range(from: nil, through: nil, of: campaign) == 100...400)
        #expect(CampaignHour.range(from: nil, through: nil, of: campaign, maximum: 24) == 377...400)
        #expect(CampaignHour.range(from: start(200), through: start(300), of: campaign, maximum: 24) == 277...300)
        #expect(CampaignHour.range(from: start(200) + 1, through: .max, of: campaign) == 200...400)
        #expect(CampaignHour.range(from: .min, through: start(101), of: campaign) == 100...101)
        #expect(CampaignHour.range(from: start(401), through: nil, of: campaign) == nil)
        #expect(CampaignHour.range(from: start(300), through: start(200), of: campaign) == nil)
        #expect(CampaignHour.range(from: nil, through: nil, of: Self.summary(first: .min, last: .max)) != nil)
    }

    @Test("An hour begins and ends within the years that times can have")
    func bounds() {
        #expect(CampaignHour.start(of: 2) == 7_200_000 && CampaignHour.end(of: 2) == 10_799_999)
        #expect(CampaignHour.end(of: .max) == 253_402_300_799_999 && CampaignHour.start(of: .min) == 0)
    }

    @Test("Each count has a name for programs")
    func members() {
        var counts = CampaignCounts()
        counts.matched = 8
        counts.accepted = 4
        counts.opened = 1
        counts.deadLettered = 2
        #expect(counts.members.map(\.count) == [8, 4, 1, 0, 0, 0, 2])
        #expect(Set(counts.members.map { "\($0.name)" }).count == 7)
    }
}
