import Notifications
import RegistryCore

extension CampaignConformance {
    static let openChecks = [
        RegistryConformance("An open counts once for a device and an event, on the device's platform") { registry in
            try registry.upsert([try RegistryConformance.device("a"), try RegistryConformance.device("b")])
            let reports = [try open(1, on: "a"), try open(1, on: "b"), try open(1, on: "a"), try open(2, on: "a")]
            try RegistryConformance.expect(
                try registry.countOpens(reports, nowMilliseconds: now),
                is: [.counted, .counted, .repeated, .counted], "the first batch")
            try RegistryConformance.expect(
                try registry.countOpens(
                    [try open(2, on: "a"), try open(2, on: "b")], nowMilliseconds: now + 3_600_000),
                is: [.repeated, .counted], "the second batch")
            try RegistryConformance.expect(try registry.countOpens([], nowMilliseconds: now), is: [], "no report")
            try RegistryConformance.expect(
                try registry.campaignSlices(spring, hours: 0 ... .max),
                is: [
                    CampaignSlice(hour: hour, platform: .apns, counts: counts { $0.opened = 3 }),
                    CampaignSlice(hour: hour + 1, platform: .apns, counts: counts { $0.opened = 1 }),
                ], "the parts")
        },
        RegistryConformance("An open counts only with a token of the device, of any platform, and of its app") {
            registry in
            let platforms: [(Platform, DeviceToken)] = [
                (.apnsSandbox, try SampleAddress.make(.apns, "s")), (.courier, try SampleAddress.make(.courier, "c")),
                (.gcm, try SampleAddress.make(.gcm, "g", bytes: 1_000)),
                (.gcm, try SampleAddress.make(.gcm, "f", isInstallationID: true)),
                (.adm, try SampleAddress.make(.adm, "m")), (.adm, try SampleAddress.make(.adm, "m", bytes: 1_000)),
                (.webPush, try SampleAddress.make(.webPush, "w")),
            ]
            for (number, (platform, token)) in platforms.enumerated() {
                var device = try RegistryConformance.device("d\(number)")
                (device.platform, device.token) = (platform, token)
                try registry.upsert([device])
                guard let bare = DeviceToken(text: token.bytes) else { throw RegistryViolation("no text") }
                let other = try SampleAddress.make(.apns, "other")
                let mail = CampaignKey(app: "mail", name: "spring")
                let reports = [
                    try open(1, on: device.deviceID, token: other),
                    try open(1, on: device.deviceID, of: mail, token: token),
                    try open(1, on: "stranger", token: token), try open(1, on: device.deviceID, token: bare),
                ]
                try RegistryConformance.expect(
                    try registry.countOpens(reports, nowMilliseconds: now),
                    is: [.unknownDevice, .unknownDevice, .unknownDevice, .counted], "reports of \(platform)")
            }
            let opened = try registry.campaignSlices(spring, hours: hour...hour).map {
                "\($0.platform) \($0.counts.opened)"
            }
            try RegistryConformance.expect(
                opened, is: ["apnsSandbox 1", "gcm 2", "courier 1", "adm 2", "webPush 1"], "the parts")
            try RegistryConformance.expect(
                try registry.campaigns(app: "mail", before: nil, limit: 9).count, is: 0, "campaigns of the other app")
        },
        RegistryConformance("A device also proves itself by a token of another kind") { registry in
            try registry.upsert([try RegistryConformance.device("a"), try RegistryConformance.device("b")])
            let token = try SampleAddress.make(.apns, "activity")
            try registry.saveTokens([
                FurtherToken(deviceID: "a", kind: .liveactivity, token: token, registeredAtMilliseconds: 1)
            ])
            try RegistryConformance.expect(
                try registry.countOpens(
                    [try open(1, on: "a", token: token), try open(1, on: "b", token: token)], nowMilliseconds: now),
                is: [.counted, .unknownDevice], "the device, and another one")
        },
    ]

    static let endChecks = [
        RegistryConformance("Who is erased is taken out of the opened counts, and out of no others") { registry in
            try registry.upsert([
                try RegistryConformance.device("a", identity: "identity:1"),
                try RegistryConformance.device("b", identity: nil, user: "anna"),
                try RegistryConformance.device("c", identity: nil, user: "mei"),
            ])
            _ = try registry.countPushes([push(1, .accepted), push(2, .matched)], nowMilliseconds: now)
            for (delay, device) in [(0, "a"), (1, "a"), (0, "b"), (1, "b"), (0, "c")] {
                _ = try registry.countOpens(
                    [try open(UInt8(delay), on: device)], nowMilliseconds: now + Int64(delay) * 3_600_000)
            }
            func opened() throws -> [Int64] {
                try registry.campaignSlices(spring, hours: 0 ... .max).map(\.counts.opened)
            }
            try RegistryConformance.expect(try opened(), is: [3, 2], "before")
            _ = try registry.eraseIdentity("identity:1")
            try RegistryConformance.expect(try opened(), is: [2, 1], "after the identity")
            _ = try registry.eraseUser("anna")
            try RegistryConformance.expect(try opened(), is: [1, 0], "after the user")
            _ = try registry.eraseUser("anna")
            _ = try registry.eraseIdentity("identity:1")
            try expectSums(registry, "the sums") { counts in
                (counts.matched, counts.accepted, counts.opened) = (1, 1, 1)
            }
        },
        RegistryConformance("A device that is removed leaves its opens counted, and to no later device") { registry in
            func register(_ name: String, user: String) throws {
                try registry.upsert([try RegistryConformance.device(name, identity: nil, user: user)])
            }
            try register("a", user: "anna")
            _ = try registry.countPushes([push(1, .accepted), push(2, .accepted)], nowMilliseconds: now)
            _ = try registry.countOpens([try open(1, on: "a"), try open(2, on: "a")], nowMilliseconds: now)
            _ = try registry.removeDevice("a")
            // It may get the row of the removed one.
            try register("b", user: "mei")
            try RegistryConformance.expect(
                try registry.countOpens([try open(1, on: "b")], nowMilliseconds: now), is: [.counted], "its own open")
            _ = try registry.eraseUser("mei")
            _ = try registry.eraseUser("anna")
            try expectSums(registry, "the opens of the removed device") { counts in
                (counts.accepted, counts.opened) = (2, 2)
            }
        },
        RegistryConformance("A device that registers anew, under its name or with its token, counts no event again") {
            registry in
            let (token, other) = (try SampleAddress.make(.apns, "a"), try SampleAddress.make(.apns, "b"))
            func reports(_ name: String, _ token: DeviceToken, _ events: [UInt8]) throws -> [CampaignOpenResult] {
                var device = try RegistryConformance.device(name)
                device.token = token
                try registry.upsert([device])
                defer { _ = try? registry.removeDevice(name) }
                return try registry.countOpens(
                    events.map { try open($0, on: name, token: token) }, nowMilliseconds: now)
            }
            _ = try registry.countPushes((0..<9).map { push($0, .accepted) }, nowMilliseconds: now)
            try RegistryConformance.expect(try reports("a", token, [1, 2]), is: [.counted, .counted], "first")
            for (name, token) in [("a", token), ("a", other), ("c", token), ("c", other)] {
                try RegistryConformance.expect(
                    try reports(name, token, [1, 2]), is: [.repeated, .repeated], "\(name) with \(token)")
            }
            try RegistryConformance.expect(try reports("c", other, [3]), is: [.counted], "another event")
            try RegistryConformance.expect(
                try reports("d", try SampleAddress.make(.apns, "d"), [1]), is: [.counted], "another device")
            try expectSums(registry, "the sums") { counts in (counts.accepted, counts.opened) = (9, 4) }
        },
        RegistryConformance("No more are opened than accepted, whoever reports, and when") { registry in
            func report(_ number: Int) throws {
                try registry.upsert([try RegistryConformance.device("d\(number)")])
                _ = try registry.countOpens([try open(1, on: "d\(number)")], nowMilliseconds: now)
                _ = try registry.removeDevice("d\(number)")
            }
            for number in 0..<5 { try report(number) }
            try expectSums(registry, "before the outcomes are counted") { $0.opened = 0 }
            _ = try registry.countPushes([push(1, .accepted), push(2, .accepted)], nowMilliseconds: now)
            try expectSums(registry, "with two accepted") { counts in (counts.accepted, counts.opened) = (2, 2) }
            _ = try registry.countPushes((3..<9).map { push($0, .accepted) }, nowMilliseconds: now)
            try expectSums(registry, "with eight accepted") { counts in (counts.accepted, counts.opened) = (8, 5) }
        },
        RegistryConformance("A push that is counted late is remembered from then on, so that it counts once") {
            registry in
            let late = [push(1, [.matched, .accepted], hoursAgo: 200)]
            try RegistryConformance.expect(try registry.countPushes(late, nowMilliseconds: now), is: 2, "first")
            _ = try registry.forgetCampaigns(before: hour - 2_000, pushesBefore: hour - 72, limit: 100)
            try RegistryConformance.expect(try registry.countPushes(late, nowMilliseconds: now), is: 0, "again")
            try expectSums(registry, "the sums") { counts in (counts.matched, counts.accepted) = (1, 1) }
        },
        RegistryConformance("What is too old is forgotten in steps, and what is not stays") { registry in
            try registry.upsert([try RegistryConformance.device("a")])
            let (old, running) = (CampaignKey(app: "chat", name: "old"), CampaignKey(app: "chat", name: "running"))
            for age in stride(from: Int64(100), to: 0, by: -1) {
                var pushes = age > 90 ? [push(100 - age, .matched, of: old, hoursAgo: age)] : []
                if age % 10 == 0 { pushes.append(push(200 - age, .matched, of: running, hoursAgo: age)) }
                _ = try registry.countPushes(pushes, nowMilliseconds: now - age * 3_600_000)
            }
            _ = try registry.countOpens([try open(1, on: "a", of: old)], nowMilliseconds: now - 95 * 3_600_000)
            _ = try registry.countOpens([try open(2, on: "a", of: running)], nowMilliseconds: now)
            var counts: [Int] = []
            repeat {
                counts.append(
                    try registry.forgetCampaigns(before: hour - 50, pushesBefore: hour - 95, limit: 4))
            } while counts.last == 4
            // Pushes of 100 to 96 hours ago, an open, counts of 100 to 91 and of 100 to 60 hours ago, a campaign.
            try RegistryConformance.expect(counts.reduce(0, +), is: 6 + 1 + 10 + 5 + 1, "what is forgotten")
            try RegistryConformance.expect(
                try registry.campaigns(app: nil, before: nil, limit: 9).map(\.campaign), is: [running], "campaigns")
            try RegistryConformance.expect(
                try registry.campaign(running)?.firstHour, is: hour - 50, "the first hour that is kept")
            try expectSums(registry, of: running, "what stays") { $0.matched = 5 }
            let opened = try registry.campaignSlices(running, hours: 0 ... .max).map(\.counts.opened).reduce(0, +)
            try RegistryConformance.expect(opened, is: 1, "the open that stays")
            try RegistryConformance.expect(
                try registry.countPushes(
                    [push(9, .matched, of: old, hoursAgo: 10), push(0, .matched, of: old, hoursAgo: 10)],
                    nowMilliseconds: now), is: 1, "a push that is remembered, and one that is not")
            try RegistryConformance.expect(
                try registry.countOpens(
                    [try open(1, on: "a", of: old), try open(2, on: "a", of: running)], nowMilliseconds: now),
                is: [.repeated, .repeated], "opens are remembered for as long as receipts are good")
            let numbers = try registry.campaigns(app: nil, before: nil, limit: 9).map(\.campaign)
            try RegistryConformance.expect(numbers, is: [old, running], "a campaign that comes again is new")
            for limit in [0, -1] {
                try RegistryConformance.expect(
                    try registry.forgetCampaigns(before: .max, pushesBefore: .max, limit: limit), is: 0, "no step")
            }
        },
    ]
}
