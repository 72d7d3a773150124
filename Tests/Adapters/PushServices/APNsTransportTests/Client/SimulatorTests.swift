import APNsSimulator
import APNsTransport
import ConnectionPool
import Notifications
import PushServiceSimulator
import PushTestKit
import ServiceClient
import Testing

@Suite("Client: against the simulator, which has rules of its own")
struct SimulatorTests {
    private func makeWorld(
        script: String = "", limits: (inout PoolLimits) -> Void = { _ in },
        simulator change: (inout SimulatorConfiguration) -> Void = { _ in }
    ) async throws -> SimulatorWorld {
        try await SimulatorWorld(script: script, limits: limits, simulator: change)
    }

    private static func notification(for type: PushType) -> Notifications.Notification {
        var notification = Notifications.Notification()
        switch type {
        case .background:
            notification.isContentAvailable = true
        case .controls, .widgets:
            notification.isContentChanged = true
        case .liveactivity:
            notification.liveActivityEvent = .update
            notification.timestampSeconds = 1_700_000_000
            notification.contentState = RawJSON(validated: Array(#"{"score":1}"#.utf8))
        case .alert, .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip:
            notification.body = "Hello"
        }
        return notification
    }

    @Test("A push of every type, built by our rules, is accepted by rules that were written apart from them")
    func everyPushTypeIsAccepted() async throws {
        let world = try await makeWorld()
        var builder = PushContentBuilder(bundleID: "com.example.chat")
        var requests: [PushRequest] = []
        for (index, type) in PushType.allCases.enumerated() {
            let options = PushOptions(pushType: type, expirationSeconds: 0, collapseID: "score")
            let content = try builder.content(of: Self.notification(for: type), options: options)
            let token = try #require(DeviceToken(bytes: [UInt8](repeating: UInt8(index), count: 32)))
            let identifier = APNsIdentifier(high: 0x0123_4567_89ab_4def, low: UInt64(index))
            requests.append(
                PushRequest(
                    identifier: UInt64(index), route: 0, token: token, apnsID: identifier, content: content))
        }
        let key = DatasetKey(identityPoolID: "us-east-1:p", identityID: "us-east-1:i", datasetName: "settings")
        let change = DatasetChange(operation: .changed, key: key, syncCount: 7, deviceID: nil)
        let silent = try builder.content(of: change, expirationSeconds: nil)
        let token = try #require(DeviceToken(bytes: [9, 9, 9, 9]))
        requests.append(
            PushRequest(
                identifier: 99, route: 0, token: token, apnsID: APNsIdentifier(high: 1, low: 2), content: silent))
        world.fixture.client.send(requests)
        let results = await world.fixture.results.wait(count: requests.count)
        for result in results {
            #expect(result.outcome == .answered(PushAnswer(status: 200)), "push \(result.identifier)")
        }
        let summary = try await world.end()
        #expect(summary.accepted == requests.count)
        #expect(summary.protocolViolations == 0)
    }

    @Test("Thousands of pushes with dead, throttled and failing tokens among them agree with the simulator's count")
    func agreesWithTheSimulator() async throws {
        let zeros = String(repeating: "0", count: 63)
        let world = try await makeWorld(
            script: """
                {"token":"\(zeros)1","answer":"unregistered","since":1600000000123}
                {"token":"\(zeros)2","answer":"throttle","times":1}
                {"token":"\(zeros)3","answer":"status","status":503,"reason":"ServiceUnavailable"}
                """, limits: { $0.connections = 3 },
            simulator: { $0.maxConcurrentStreams = 50 })
        world.fixture.send(0..<4_000)
        let results = await world.fixture.results.wait(count: 4_000)
        #expect(results.count { $0.outcome == .answered(PushAnswer(status: 200)) } == 3_997)
        let dead = PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: 1_600_000_000_123)
        #expect(world.fixture.results.outcome(1) == .answered(dead))
        #expect(
            world.fixture.results.outcome(2) == .answered(PushAnswer(status: 429, reason: "TooManyRequests")))
        #expect(
            world.fixture.results.outcome(3) == .answered(PushAnswer(status: 503, reason: "ServiceUnavailable")))
        let summary = try await world.end()
        #expect(summary.accepted == 3_997)
        #expect(summary.duplicates == 0)
        #expect(summary.connections == 3)
        #expect(summary.concurrentStreamsMaximum <= 50)
        #expect(summary.unauthenticatedStreamsMaximum <= 1)
        #expect(summary.protocolViolations == 0)
    }

    @Test("A key that the simulator does not know is refused one push at a time, and soon no more are tried")
    func unknownKeyIsRefused() async throws {
        let world = try await makeWorld(
            limits: { $0.connections = 1 }, simulator: { $0.teamKeys[0].keyID = "OTHERKEY01" })
        world.fixture.send(0..<200)
        let results = await world.fixture.results.wait(count: 200)
        let refused = AttemptOutcome.answered(PushAnswer(status: 403, reason: "InvalidProviderToken"))
        let ended = AttemptOutcome.notProcessed("APNs refuses the authorization (InvalidProviderToken)")
        #expect(results.count { $0.outcome == refused } + results.count { $0.outcome == ended } == 200)
        #expect((8...10).contains(results.count { $0.outcome == refused }))
        let summary = try await world.end()
        #expect(summary.accepted == 0)
        #expect(summary.unauthenticatedStreamsMaximum == 1)
    }
}
