import Notifications
import PostgreSQL
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

@testable import PostgresRegistry

/// Counts of campaigns while several processes count at the same moment.
struct CampaignConcurrencyTests {
    private static let now: Int64 = 1_700_000_000_000
    private static let campaign = CampaignKey(app: "chat", name: "spring")

    private static func push(_ digest: Int, _ endings: CampaignEndings) -> CampaignPush {
        CampaignPush(
            campaign: digest % 3 == 0 ? CampaignKey(app: "chat", name: "c\(digest % 50)") : campaign, platform: .apns,
            hour: now / 3_600_000 - Int64(digest % 5), digest: Int64(digest), endings: endings)
    }

    private static func inParallel(
        _ url: String, _ body: @escaping @Sendable (PostgresRegistry, Int) throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let registry = try PostgresRegistry.open(
                        url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
                    try body(registry, number)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("Processes that are told of the same pushes at once count each ending once")
    func pushes() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        try await Self.inParallel(server.url(database: database)) { registry, number in
            var generator = SeededGenerator(seed: UInt64(number))
            let pushes = (0..<1_000).flatMap { [Self.push($0, .matched), Self.push($0, .accepted)] }
                .shuffled(using: &generator)
            for start in stride(from: 0, to: pushes.count, by: 100) {
                _ = try registry.countPushes(Array(pushes[start..<start + 100]), nowMilliseconds: Self.now)
            }
        }
        let sums = "SELECT sum(matched), sum(accepted), sum(opened) FROM apus.campaign_count"
        #expect(try await server.run(sums, database: database) == "1000|1000|0")
        #expect(
            try await server.run("SELECT count(*), min(seen), max(seen) FROM apus.campaign_push", database: database)
                == "1000|3|3")
    }

    @Test("Opens that are reported and people that are erased at once leave the counts of those that are there")
    func opens() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        try await Self.inParallel(server.url(database: database)) { registry, number in
            for round in 0..<30 {
                let devices = try (0..<5).map { try Fixture.device($0, identity: "identity:\($0 % 2)") }
                try registry.upsert(devices)
                let opens = devices.map { device in
                    CampaignOpen(
                        campaign: CampaignKey(app: "chat", name: "c\(round % 3)"),
                        event: Array(repeating: UInt8(round), count: 16), deviceID: device.deviceID,
                        token: device.token)
                }
                _ = try registry.countOpens(number % 2 == 0 ? opens : opens.reversed(), nowMilliseconds: Self.now)
                if round % 4 == number { _ = try registry.eraseIdentity("identity:\(round % 2)") }
            }
        }
        let difference = """
            SELECT (SELECT sum(opened) FROM apus.campaign_count) - (SELECT count(*) FROM apus.campaign_open)
            """
        #expect(try await server.run(difference, database: database) == "0")
    }

    @Test("A report that waits for the registration of its device is compared with the tokens that this gives it")
    func openOfNewToken() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        let url = server.url(database: database)
        let registration = try PostgresRegistry.open(
            url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
        try registration.upsert([try Fixture.device(1)])
        let token = try #require(DeviceToken(bytes: [0x77]))
        try registration.connection.execute(
            """
            BEGIN; SELECT 1 FROM apus.device FOR UPDATE;
            INSERT INTO apus.device_token (device, kind, token, app, registered_at)
            SELECT id, 'voip', '\\x77', app, 1 FROM apus.device
            """, Deadline(milliseconds: 60_000))
        let report = Task.detached {
            try PostgresRegistry.open(
                url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000
            ).countOpens(
                [
                    CampaignOpen(
                        campaign: Self.campaign, event: Array(repeating: 1, count: 16), deviceID: "device-1",
                        token: token)
                ], nowMilliseconds: Self.now)
        }
        try await eventually("the reports that wait", equals: "1") {
            try await server.run(
                """
                SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND wait_event_type = 'Lock'
                """, database: "postgres")
        }
        try registration.connection.execute("COMMIT", Deadline(milliseconds: 60_000))
        #expect(try await report.value == [.counted])
    }

    @Test("Campaigns that are forgotten while others count are counted under one number")
    func forgetting() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        try await Self.inParallel(server.url(database: database)) { registry, number in
            let device = try Fixture.device(1)
            try registry.upsert([device])
            for round in 0..<40 {
                switch number {
                case 0: _ = try registry.forgetCampaigns(before: .max, pushesBefore: .max, limit: 10_000)
                case 1: _ = try registry.countPushes([Self.push(round, .matched)], nowMilliseconds: Self.now)
                default:
                    let open = CampaignOpen(
                        campaign: Self.campaign, event: Array(repeating: UInt8(round), count: 16),
                        deviceID: device.deviceID, token: device.token)
                    _ = try registry.countOpens([open], nowMilliseconds: Self.now)
                }
            }
        }
        let strays = """
            SELECT count(*) FROM apus.campaign_open o WHERE NOT EXISTS (
                SELECT FROM apus.campaign_count c WHERE c.campaign = o.campaign AND c.hour = o.hour)
            """
        #expect(try await server.run(strays, database: database) == "0")
    }
}
