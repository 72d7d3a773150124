import JSON
import Notifications
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Testing

@Suite("apus campaign")
struct CampaignCommandTests {
    /// 2023-11-15T00:00:00Z.
    private static let midnight: Int64 = 472_224
    private static let now = CampaignHour.start(of: midnight + 48)
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("apus.toml", "[registry]\nurl = \"sqlite:registry.db\"\n")
    }

    private func apus(_ arguments: String...) async throws -> CommandResult {
        try await CommandRunner.apus(["campaign"] + arguments, in: folder)
    }

    /// Pushes of a campaign on a platform in an hour that ended in the same way.
    private func pushes(
        _ count: Int64, _ endings: CampaignEndings, _ platform: Platform, at hour: Int64, of name: String = "sale",
        app: String = "chat"
    ) -> [CampaignPush] {
        (0..<count).map { _ in
            CampaignPush(
                campaign: CampaignKey(app: app, name: name), platform: platform, hour: hour,
                digest: .random(in: .min ... .max), endings: endings)
        }
    }

    /// The campaign "sale" on two platforms and two days, and one of another app.
    private func prepare() throws {
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        let token = try #require(DeviceToken(hexadecimal: TestDevices.token(1)))
        let device = Device(
            deviceID: "phone-1", platform: .apns, token: token, app: "chat", registeredAtMilliseconds: Self.now)
        try registry.register([DeviceRegistration(device: device)])
        let first =
            pushes(12, [.matched, .accepted], .apns, at: Self.midnight - 2)
            + pushes(3, [.matched, .tokenDead], .apns, at: Self.midnight - 2)
            + pushes(4, [.matched, .accepted], .gcm, at: Self.midnight - 2)
        let second =
            pushes(2, [.matched, .expired], .gcm, at: Self.midnight + 1)
            + pushes(1, [.matched, .accepted, .deadLettered], .apns, at: Self.midnight + 1)
        let other = pushes(1, .matched, .apns, at: Self.midnight, of: "dataset:\u{202e}notes", app: "mail")
        for part in [first, second, other] { _ = try registry.countPushes(part, nowMilliseconds: Self.now) }
        let open = CampaignOpen(
            campaign: CampaignKey(app: "chat", name: "sale"), event: Array(repeating: 7, count: 16),
            deviceID: "phone-1", token: token)
        #expect(
            try registry.countOpens([open], nowMilliseconds: CampaignHour.start(of: Self.midnight + 1)) == [.counted])
    }

    @Test("Campaigns are listed with sums and shares, the newest first, for people and for programs")
    func list() async throws {
        try prepare()
        let text = try await apus("list")
        #expect(text.exitCode == 0 && text.errors.isEmpty, "\(text)")
        #expect(
            text.output == #"""
                APP   CAMPAIGN             MATCHED  ACCEPTED          OPENED\#
                         DEAD  EXPIRED  COALESCED  LETTERS  LAST
                mail  dataset:\u202enotes        1         0   0.0 %       0\#
                      -     0        0          0        0  2023-11-15T00:00Z
                chat  sale                      22        17  77.2 %       1\#
                  5.8 %     3        2          0        1  2023-11-15T01:00Z

                """#)
        let json = try await apus("list", "--app", "chat", "--json")
        let line = try JSONParser().parse(json.output)
        #expect(line["campaign"]?.string == "sale" && line["matched"]?.int64 == 22 && line["opened"]?.int64 == 1)
        #expect(line["firstAt"]?.int64 == CampaignHour.start(of: Self.midnight - 2))
        let one = try await apus("list", "--limit", "1")
        #expect(one.output.contains("mail") && !one.output.contains("sale") && one.errors.contains("--limit"), "\(one)")
        let none = try await apus("list", "--app", "nothing")
        #expect(none.exitCode == 0 && none.output.isEmpty && none.errors.contains("no campaigns"), "\(none)")
    }

    @Test("A campaign is shown with its sums, by platform, and by hour with a bar")
    func show() async throws {
        try prepare()
        let text = try await apus("show", "chat", "sale")
        #expect(text.exitCode == 0, "\(text)")
        let bar = String(repeating: "█", count: 24)
        for line in [
            "from      2023-11-14T22:00:00.000Z", "through   2023-11-15T01:59:59.999Z",
            "matched       22", "accepted      17  77.2 % of matched", "opened         1  5.8 % of accepted",
            "token dead     3", "expired        2", "dead letters   1",
            "APNS           16        13  81.2 %       1  7.6 %     3        0          0        1",
            "GCM             6         4  66.6 %       0  0.0 %     0        2          0        0",
            "2023-11-14T22:00Z       19        16  84.2 %       0    0.0 %     3        0          0        0  \(bar)",
            "2023-11-15T01:00Z        3         1  33.3 %       1  100.0 %     0        2          0        1  ██",
        ] {
            #expect(text.output.contains("\n\(line)\n"), "\(line)\n\(text.output)")
        }
        let days = try await apus("show", "chat", "sale", "--by", "day")
        #expect(days.output.contains("\n2023-11-14 ") && days.output.contains("\n2023-11-15 "), "\(days)")
    }

    @Test("A campaign is shown for programs, of some hours if they are given")
    func showForPrograms() async throws {
        try prepare()
        let all = try JSONParser().parse(try await apus("show", "chat", "sale", "--json").output)
        #expect(all["accepted"]?.int64 == 17 && all["by"]?.string == "hour")
        #expect(all["platforms"]?.array?.map { $0["accepted"]?.int64 } == [13, 4])
        #expect(all["slices"]?.array?.map { $0["matched"]?.int64 } == [15, 4, 1, 2])
        let late = try JSONParser().parse(
            try await apus("show", "chat", "sale", "--json", "--from", "2023-11-15T00:30:00Z").output)
        #expect(late["matched"]?.int64 == 3 && late["slices"]?.array?.count == 2)
        #expect(late["from"]?.int64 == CampaignHour.start(of: Self.midnight))
        let early = try JSONParser().parse(
            try await apus("show", "chat", "sale", "--json", "--through", "2023-11-14T23:59:59Z", "--by", "day").output)
        #expect(early["slices"]?.array?.map { $0["at"]?.int64 }.first == CampaignHour.start(of: Self.midnight - 24))
        let never = try await apus("show", "chat", "sale", "--from", "2024-01-01T00:00:00Z")
        #expect(never.exitCode == 0 && never.output.contains("Nothing was counted"), "\(never)")
    }

    @Test("What is not there and what makes no sense is told with what to do")
    func refusals() async throws {
        try prepare()
        let missing = try await apus("show", "chat", "salle")
        #expect(missing.exitCode == 65 && missing.output.isEmpty, "\(missing)")
        #expect(missing.errors.contains("salle") && missing.errors.contains("apus campaign list"), "\(missing)")
        for (arguments, word) in [
            (["--from", "yesterday"], "2026-01-31T12:00:00Z"), (["--by", "week"], "hour or day"),
            (["--from", "2024-01-02T00:00:00Z", "--through", "2024-01-01T00:00:00Z"], "later"),
        ] {
            let wrong = try await CommandRunner.apus(["campaign", "show", "chat", "sale"] + arguments, in: folder)
            #expect(wrong.exitCode == 64 && wrong.errors.contains(word), "\(wrong)")
        }
        #expect(try await apus("show", "chat").exitCode == 64)
        #expect(try await apus("list", "--limit", "0").exitCode == 64)
    }

    @Test("A registry of an older schema is told to be migrated")
    func olderSchema() async throws {
        let version = CampaignRules.schemaVersion - 1
        _ = try SQLiteRegistry.open(
            path: folder.path + "/registry.db", mode: .create,
            migrations: SchemaMigrations(Array(SQLiteRegistry.migrations.all.prefix(Int(version)))))
        for arguments in [["list"], ["show", "chat", "sale"]] {
            let old = try await CommandRunner.apus(["campaign"] + arguments, in: folder)
            #expect(old.exitCode == 78 && old.errors.contains("apus registry migrate"), "\(old)")
        }
    }
}
