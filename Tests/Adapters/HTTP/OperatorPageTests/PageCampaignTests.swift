import JSON
import Notifications
import OperatorPage
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Testing

@Suite("Campaigns on the page")
struct PageCampaignTests {
    /// 2023-11-15T00:00:00Z.
    private static let midnight: Int64 = 472_224
    private static let now = CampaignHour.start(of: midnight + 48)

    private func parse(_ answer: PlainHTTP.Answer, _ status: Int = 200) throws -> JSONValue {
        try #require(answer.status == status, "\(answer)")
        return try JSONParser().parse(answer.body)
    }

    /// Counts pushes that were accepted, and one more that was matched only.
    private func count(
        _ accepted: Int64, of name: String, app: String = "chat", _ platform: Platform = .apns, at hour: Int64,
        in fixture: PageFixture
    ) throws {
        let key = CampaignKey(app: app, name: name)
        let pushes = (0...accepted).map { number in
            CampaignPush(
                campaign: key, platform: platform, hour: hour, digest: .random(in: .min ... .max),
                endings: number < accepted ? [.matched, .accepted] : .matched)
        }
        _ = try fixture.registry().countPushes(pushes, nowMilliseconds: Self.now)
    }

    @Test("Campaigns are listed with their sums, the newest first, by app and page by page")
    func list() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        for (index, name) in ["spring", "summer", "autumn"].enumerated() {
            try count(Int64(index) + 1, of: name, at: Self.midnight, in: fixture)
        }
        try count(9, of: "spring", app: "mail", at: Self.midnight + 1, in: fixture)
        let first = try parse(await fixture.get("campaigns?app=chat&limit=2"))
        #expect(first["campaigns"]?.array?.map { $0["name"]?.string } == ["autumn", "summer"])
        #expect(first["campaigns"]?.array?.map { $0["accepted"]?.int64 } == [3, 2])
        #expect(first["campaigns"]?.array?.map { $0["matched"]?.int64 } == [4, 3])
        #expect(first["problem"] == nil)
        let next = try #require(first["next"]?.int64)
        let rest = try parse(await fixture.get("campaigns?app=chat&limit=2&before=\(next)"))
        #expect(rest["campaigns"]?.array?.map { $0["name"]?.string } == ["spring"] && rest["next"] == nil)
        let all = try parse(await fixture.get("campaigns"))
        let newest = try #require(all["campaigns"]?.array?.first { _ in true })
        #expect(all["campaigns"]?.array?.count == 4 && newest["app"]?.string == "mail")
        #expect(newest["lastMilliseconds"]?.int64 == CampaignHour.end(of: Self.midnight + 1))
        #expect(await fixture.get("campaigns?before=x").errorCode == "invalid")
    }

    @Test("A campaign shows its platforms and its hours, or its days")
    func show() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        try count(2, of: "sp/ring & co", at: Self.midnight - 1, in: fixture)
        try count(3, of: "sp/ring & co", .webPush, at: Self.midnight - 1, in: fixture)
        try count(4, of: "sp/ring & co", at: Self.midnight + 5, in: fixture)
        let path = "campaigns/show?app=chat&name=sp%2Fring%20%26%20co"
        let hours = try parse(await fixture.get(path))
        #expect(hours["by"]?.string == "hour" && hours["campaign"]?["accepted"]?.int64 == 9)
        #expect(hours["platforms"]?.array?.map { $0["platform"]?.string } == ["APNS", "WEB_PUSH"])
        #expect(hours["platforms"]?.array?.map { $0["accepted"]?.int64 } == [6, 3])
        let last = CampaignHour.start(of: Self.midnight + 5)
        #expect(hours["slices"]?.array?.map { $0["atMilliseconds"]?.int64 }.last == last)
        #expect(hours["slices"]?.array?.map { $0["accepted"]?.int64 } == [2, 3, 4])
        #expect(hours["fromMilliseconds"]?.int64 == CampaignHour.start(of: Self.midnight - 1))
        let late = try parse(await fixture.get("\(path)&fromMilliseconds=\(last)&throughMilliseconds=\(last + 1)"))
        #expect(late["slices"]?.array?.count == 1 && late["platforms"]?.array?.count == 1)
        let none = try parse(await fixture.get("\(path)&fromMilliseconds=\(last + CampaignHour.milliseconds)"))
        #expect(none["slices"]?.array?.isEmpty == true && none["fromMilliseconds"] == nil)
        let days = try parse(await fixture.get("\(path)&by=day"))
        let starts = [Self.midnight - 24, Self.midnight - 24, Self.midnight].map { CampaignHour.start(of: $0) }
        #expect(days["slices"]?.array?.compactMap { $0["atMilliseconds"]?.int64 } == starts)
    }

    @Test("Only the last hours of a long campaign are in one answer")
    func bounded() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        try count(1, of: "long", at: Self.midnight - 24 * 300, in: fixture)
        try count(2, of: "long", at: Self.midnight - 24 * 30, in: fixture)
        try count(3, of: "long", at: Self.midnight, in: fixture)
        for (step, accepted) in [("hour", [3]), ("day", [2, 3])] {
            let answer = try parse(await fixture.get("campaigns/show?app=chat&name=long&by=\(step)"))
            #expect(answer["slices"]?.array?.compactMap { $0["accepted"]?.int64 } == accepted.map { Int64($0) })
        }
    }

    @Test("A campaign that is not there, and a question that makes no sense, are refused with the reason")
    func refused() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let missing = await fixture.get("campaigns/show?app=chat&name=none")
        #expect(missing.errorCode == "not-found" && missing.body.contains("none"), "\(missing)")
        for query in ["", "app=chat", "name=x", "app=chat&name=x&by=week", "app=chat&name=x&fromMilliseconds=-1"] {
            #expect(await fixture.get("campaigns/show?\(query)").errorCode == "invalid", "\(query)")
        }
        #expect(await fixture.post("campaigns", "{}").status == 405)
    }

    @Test("A registry that has to be migrated first shows no campaigns, and the command that helps")
    func olderSchema() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let migrator = try SQLiteMigrator(path: fixture.folder.path + "/registry.db")
        let plan = try MigrationPlan(
            down: migrator.schemaState(), to: CampaignRules.schemaVersion - 1, migrator.migrations)
        for step in plan.steps { _ = try migrator.perform(step) }
        let list = try parse(await fixture.get("campaigns"))
        #expect(list["campaigns"]?.array?.isEmpty == true)
        #expect(list["problem"]?.string?.contains("apus registry migrate") == true)
        let missing = await fixture.get("campaigns/show?app=chat&name=x")
        #expect(missing.errorCode == "not-found" && missing.body.contains("apus registry migrate"), "\(missing)")
    }
}
