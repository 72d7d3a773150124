import ChangeEvents
import Notifications
import RegistryCore

/// The requirements for every implementation of `CampaignRegistry`.
enum CampaignConformance {
    /// All checks.
    static let all: [RegistryConformance] = countingChecks + readingChecks + openChecks + endChecks

    // MARK: Values and steps that the checks share

    typealias Store = RegistryConformance.Store

    static let now: Int64 = 1_700_000_000_000
    static let hour = now / 3_600_000
    static let spring = CampaignKey(app: "chat", name: "spring")

    static func push(
        _ digest: Int64, _ endings: CampaignEndings, of campaign: CampaignKey = spring, platform: Platform = .apns,
        hoursAgo: Int64 = 0
    ) -> CampaignPush {
        CampaignPush(campaign: campaign, platform: platform, hour: hour - hoursAgo, digest: digest, endings: endings)
    }

    static func open(
        _ event: UInt8, on device: String, of campaign: CampaignKey = spring, token: DeviceToken? = nil
    ) throws -> CampaignOpen {
        CampaignOpen(
            campaign: campaign, event: Array(repeating: event, count: OpenReceipt.eventBytes), deviceID: device,
            token: try token ?? RegistryConformance.device(device).token)
    }

    static func counts(_ change: (inout CampaignCounts) -> Void) -> CampaignCounts {
        var counts = CampaignCounts()
        change(&counts)
        return counts
    }

    static func expectSums(
        _ registry: any Store, of campaign: CampaignKey = spring, _ what: String,
        _ change: (inout CampaignCounts) -> Void
    ) throws {
        try RegistryConformance.expect(try registry.campaign(campaign)?.counts, is: counts(change), what)
    }
}

extension CampaignConformance {
    static let countingChecks = [
        RegistryConformance("Each ending of a push counts once, however often it is told, and in whichever batch") {
            registry in
            let first = [push(1, .matched), push(2, [.matched, .accepted]), push(1, .matched), push(.min, .expired)]
            try RegistryConformance.expect(
                try registry.countPushes(first, nowMilliseconds: now), is: 4, "endings of the first batch")
            try RegistryConformance.expect(
                try registry.countPushes(first, nowMilliseconds: now), is: 0, "endings of the same batch again")
            let second = [
                push(1, [.matched, .accepted]), push(2, .deadLettered), push(.max, [.coalesced, .tokenDead]),
            ]
            try RegistryConformance.expect(
                try registry.countPushes(second, nowMilliseconds: now), is: 4, "endings of the second batch")
            try expectSums(registry, "the sums") { counts in
                counts.matched = 2
                counts.accepted = 2
                (counts.tokenDead, counts.expired, counts.coalesced, counts.deadLettered) = (1, 1, 1, 1)
            }
            try RegistryConformance.expect(
                try registry.countPushes(
                    [push(9, []), push(9, CampaignEndings(rawValue: 0xc0))], nowMilliseconds: now),
                is: 0, "endings that there are not")
            try RegistryConformance.expect(try registry.countPushes([], nowMilliseconds: now), is: 0, "no push")
        },
        RegistryConformance("Counts are kept by campaign, hour and platform, with no hour to come") { registry in
            let mail = CampaignKey(app: "mail", name: "spring")
            let lookalikes = ["caf\u{e9}", "cafe\u{301}"].map { CampaignKey(app: "chat", name: $0) }
            var pushes: [CampaignPush] = []
            for (number, platform) in Platform.allCases.enumerated() {
                pushes.append(push(Int64(number), .accepted, platform: platform, hoursAgo: 1))
                pushes.append(push(Int64(100 + number), .accepted, platform: platform, hoursAgo: -5))
            }
            pushes += [push(50, .matched, of: mail), push(51, .matched, of: lookalikes[0])]
            pushes += [push(52, .expired, of: lookalikes[1])]
            _ = try registry.countPushes(pushes, nowMilliseconds: now)
            let slices = try registry.campaignSlices(spring, hours: 0 ... .max)
            try RegistryConformance.expect(slices.count, is: 2 * Platform.allCases.count, "parts")
            try RegistryConformance.expect(
                slices.map(\.hour), is: Platform.allCases.map { _ in hour - 1 } + Platform.allCases.map { _ in hour },
                "hours")
            try RegistryConformance.expect(
                Set(slices.prefix(6).map(\.platform)), is: Set(Platform.allCases), "platforms of an hour")
            try RegistryConformance.expect(slices.allSatisfy { $0.counts.accepted == 1 }, is: true, "one each")
            try RegistryConformance.expect(
                try registry.campaignSlices(spring, hours: hour...hour).count, is: 6, "parts of one hour")
            try RegistryConformance.expect(
                try registry.campaignSlices(CampaignKey(app: "mail", name: "x"), hours: 0...1), is: [], "no campaign")
            try expectSums(registry, of: mail, "another app") { $0.matched = 1 }
            try expectSums(registry, of: lookalikes[0], "one spelling") { $0.matched = 1 }
            try expectSums(registry, of: lookalikes[1], "another spelling") { $0.expired = 1 }
        },
        RegistryConformance("Campaigns beyond the maximum of their app are counted under one name") { registry in
            let maximum = CampaignRules.campaignsPerAppMaximum
            func pushes(_ numbers: Range<Int>, app: String = "chat") -> [CampaignPush] {
                numbers.map {
                    push(Int64($0) << 8 + Int64(app.utf8.count), .matched, of: CampaignKey(app: app, name: "c\($0)"))
                }
            }
            for start in stride(from: 0, to: maximum - 1_000, by: 3_000) {
                _ = try registry.countPushes(pushes(start..<start + 3_000), nowMilliseconds: now)
            }
            _ = try registry.countPushes(
                pushes(maximum - 1_000..<maximum + 2) + pushes(0..<1, app: "other"), nowMilliseconds: now)
            _ = try registry.countPushes(pushes(maximum + 1..<maximum + 3), nowMilliseconds: now)
            _ = try registry.countPushes(
                [push(-1, .accepted, of: CampaignKey(app: "chat", name: "c7"))], nowMilliseconds: now)
            let rest = CampaignKey(app: "chat", name: CampaignRules.overflowName)
            try expectSums(registry, of: rest, "the campaigns without room") { $0.matched = 3 }
            try expectSums(registry, of: CampaignKey(app: "chat", name: "c\(maximum - 1)"), "the last") {
                $0.matched = 1
            }
            try expectSums(registry, of: CampaignKey(app: "chat", name: "c7"), "one of the first") { counts in
                (counts.matched, counts.accepted) = (1, 1)
            }
            try expectSums(registry, of: CampaignKey(app: "other", name: "c0"), "another app") { $0.matched = 1 }
            try RegistryConformance.expect(
                try registry.campaign(CampaignKey(app: "chat", name: "c\(maximum)")), is: nil, "no room")
            try registry.upsert([try RegistryConformance.device("a")])
            let report = try open(1, on: "a", of: CampaignKey(app: "chat", name: "another"))
            try RegistryConformance.expect(
                try registry.countOpens([report, report], nowMilliseconds: now), is: [.counted, .repeated], "opens")
            let opened = try registry.campaignSlices(rest, hours: 0 ... .max).map(\.counts.opened).reduce(0, +)
            try RegistryConformance.expect(opened, is: 1, "an open of another")
        },
        RegistryConformance("Campaigns that subscriptions name leave room for those that backends name") { registry in
            let half = CampaignRules.campaignsPerAppMaximum / 2
            func key(_ number: Int) -> CampaignKey { CampaignKey(app: "chat", name: "subscription:\(number)") }
            _ = try registry.countPushes(
                (0..<half + 3).map { push(Int64($0), .matched, of: key($0)) }, nowMilliseconds: now)
            _ = try registry.countPushes([push(-1, .matched), push(-2, .matched, of: key(0))], nowMilliseconds: now)
            try expectSums(registry, "one that a backend named") { $0.matched = 1 }
            try expectSums(registry, of: key(0), "one of the first") { $0.matched = 2 }
            try expectSums(registry, of: key(half - 1), "the last with room") { $0.matched = 1 }
            try RegistryConformance.expect(try registry.campaign(key(half)), is: nil, "one without room")
            let rest = CampaignKey(app: "chat", name: CampaignRules.overflowName)
            try expectSums(registry, of: rest, "those without room") { $0.matched = 3 }
        },
        RegistryConformance("Names that break the rules are refused, and nothing is counted") { registry in
            let names = ["", "a\u{0}", "a\n", String(repeating: "n", count: EventLimits.campaignNameBytesMaximum + 1)]
            for key in names.map({ CampaignKey(app: "chat", name: $0) }) + [CampaignKey(app: "a b", name: "n")] {
                try RegistryConformance.expect(.invalid, "a push of \(key)") {
                    _ = try registry.countPushes([push(1, .matched), push(2, .matched, of: key)], nowMilliseconds: now)
                }
                try RegistryConformance.expect(.invalid, "an open of \(key)") {
                    _ = try registry.countOpens([try open(1, on: "a", of: key)], nowMilliseconds: now)
                }
            }
            var short = try open(1, on: "a")
            short.event.removeLast()
            try RegistryConformance.expect(.invalid, "a short event") {
                _ = try registry.countOpens([short], nowMilliseconds: now)
            }
            try RegistryConformance.expect(
                try registry.campaigns(app: nil, before: nil, limit: 9).count, is: 0, "campaigns")
        },
    ]

    static let readingChecks = [
        RegistryConformance("Campaigns are read page by page, the newest first, of one app or of all") { registry in
            for number in 0..<7 {
                let key = CampaignKey(app: number % 2 == 0 ? "chat" : "mail", name: "c\(number)")
                let pushes = (0...Int64(number)).map { age in
                    push(Int64(number) << 8 + age, .matched, of: key, hoursAgo: age)
                }
                _ = try registry.countPushes(pushes, nowMilliseconds: now)
            }
            var names: [String] = []
            var last: Int64?
            while true {
                let page = try registry.campaigns(app: nil, before: last, limit: 3)
                guard let end = page.last else { break }
                last = end.number
                names += page.map(\.campaign.name)
            }
            try RegistryConformance.expect(names, is: (0..<7).reversed().map { "c\($0)" }, "all")
            let mail = try registry.campaigns(app: "mail", before: nil, limit: 9)
            try RegistryConformance.expect(mail.map(\.campaign.name), is: ["c5", "c3", "c1"], "of one app")
            try RegistryConformance.expect(mail[0].counts, is: counts { $0.matched = 6 }, "sums")
            try RegistryConformance.expect([mail[0].firstHour, mail[0].lastHour], is: [hour - 5, hour], "hours")
            try RegistryConformance.expect(
                try registry.campaign(CampaignKey(app: "mail", name: "c5")), is: mail[0], "the same alone")
            try RegistryConformance.expect(
                try registry.campaigns(app: "mail", before: mail[1].number, limit: 9), is: [mail[2]], "the next page")
            for limit in [0, -1, Int.min] {
                try RegistryConformance.expect(
                    try registry.campaigns(app: nil, before: nil, limit: limit).count, is: 0, "a page of none")
            }
            try RegistryConformance.expect(
                try registry.campaigns(app: "other", before: nil, limit: 9).count, is: 0, "an app without any")
        }
    ]
}
