import Notifications
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Testing

/// Counts of campaigns in a file that several processes use.
struct CampaignTests {
    private static let now: Int64 = 1_700_000_000_000
    private static let campaign = CampaignKey(app: "chat", name: "spring")

    @Test("Processes that are told of the same pushes at once count each ending once")
    func concurrentCounting() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/registry.db"
        let registry = try SQLiteRegistry.open(path: path, mode: .create)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let registry = try SQLiteRegistry.open(
                        path: path, mode: .existing, busyTimeoutMilliseconds: 120_000)
                    var generator = SeededGenerator(seed: UInt64(number))
                    let pushes = (0..<500).flatMap { digest in
                        [CampaignEndings.matched, .accepted].map { endings in
                            CampaignPush(
                                campaign: Self.campaign, platform: .apns, hour: Self.now / 3_600_000,
                                digest: Int64(digest), endings: endings)
                        }
                    }.shuffled(using: &generator)
                    return try stride(from: 0, to: pushes.count, by: 100).reduce(0) { count, start in
                        count
                            + (try registry.countPushes(
                                Array(pushes[start..<start + 100]), nowMilliseconds: Self.now))
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(count == 1_000)
        let counts = try #require(try registry.campaign(Self.campaign)).counts
        #expect(counts.matched == 500 && counts.accepted == 500)
    }

    @Test("Opens that are reported twice at once are counted once")
    func concurrentOpens() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/registry.db"
        let registry = try SQLiteRegistry.open(path: path, mode: .create)
        try registry.upsert([try Fixture.device(1)])
        let device = try Fixture.device(1)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let registry = try SQLiteRegistry.open(
                        path: path, mode: .existing, busyTimeoutMilliseconds: 120_000)
                    let opens = (0..<50).map { number in
                        CampaignOpen(
                            campaign: Self.campaign, event: Array(repeating: UInt8(number), count: 16),
                            deviceID: device.deviceID, token: device.token)
                    }
                    return try registry.countOpens(opens, nowMilliseconds: Self.now).filter { $0 == .counted }.count
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(count == 50)
        #expect(try registry.campaignSlices(Self.campaign, hours: 0 ... .max).map(\.counts.opened) == [50])
    }
}
