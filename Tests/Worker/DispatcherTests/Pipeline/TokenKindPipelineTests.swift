import ChangeEvents
import DispatchCore
import Dispatcher
import EventLoop
import Messages
import Metrics
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry
import Testing

@Suite("Tokens of several kinds in the pipeline", .timeLimit(.minutes(10)))
struct TokenKindPipelineTests {
    private static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"

    /// A token as APNs knows it.
    private struct Issued: Hashable {
        var token: DeviceToken
        var kind: TokenKind
        var platform: Platform
    }

    /// APNs: it knows which tokens it gave out, for which topic and environment, and which of them are dead by now.
    private struct OracleAPNs: Sendable {
        var live: Set<Issued> = []
        var dead: Set<Issued> = []

        func answer(_ request: PushRequest) -> PushAnswer {
            let topic = request.content.topic
            let kind = TokenKind.further.first { topic.hasSuffix($0.topicSuffix) } ?? .alert
            let platform: Platform = request.route == 0 ? .apns : .apnsSandbox
            let asked = Issued(token: request.token, kind: kind, platform: platform)
            if live.contains(asked) { return PushAnswer(status: 200) }
            if dead.contains(asked) {
                let bytes = request.token.bytes.reduce(0) { $0 &+ Int($1) }
                return bytes % 2 == 0
                    ? PushAnswer(status: 400, reason: "BadDeviceToken")
                    : PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: 5_000)
            }
            let isElsewhere = TokenKind.allCases.contains { other in
                live.union(dead).contains(Issued(token: request.token, kind: other, platform: platform))
            }
            return PushAnswer(status: 400, reason: isElsewhere ? "DeviceTokenNotForTopic" : "BadDeviceToken")
        }
    }

    private func message(
        _ identifier: String, type: PushType, target: String, notification: String? = nil
    ) -> Message {
        let standard =
            switch type {
            case .background: #"{"contentAvailable":true}"#
            case .widgets, .controls: #"{"contentChanged":true}"#
            case .liveactivity:
                #"{"body":"b","event":"start","timestamp":5,"contentState":{},"attributesType":"A","attributes":{}}"#
            default: #"{"body":"hello"}"#
            }
        return TestEvents.message(
            TestEvents.event(
                identifier, "push.requested",
                #"{"app":"chat",\#(target),"notification":\#(notification ?? standard),"#
                    + #""options":{"pushType":"\#(type.rawValue)"}}"#))
    }

    private func token(_ text: String) throws -> DeviceToken { try #require(DeviceToken(bytes: Array(text.utf8))) }

    private func device(_ number: Int, platform: Platform = .apns) -> Device {
        var device = PipelineBench.device("device-\(number)", identity: "i:\(number % 7)", pool: Self.pool)
        device.platform = platform
        device.userID = "u\(number % 5)"
        device.registeredAtMilliseconds = 1_000
        return device
    }

    private func targetOfTokens(_ tokens: [DeviceToken]) -> String {
        #""deviceTokens":[\#(tokens.map { "\"\($0.hexadecimal)\"" }.joined(separator: ","))]"#
    }

    @Test("No request whatever removes a device, or a token of it, that APNs would still serve", arguments: 1...6)
    func removesNothingThatIsServed(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        var apns = OracleAPNs()
        var registrations: [DeviceRegistration] = []
        for number in 0..<60 {
            let device = device(number, platform: Bool.random(using: &generator) ? .apns : .apnsSandbox)
            var tokens: [TokenKind: DeviceToken] = [:]
            for kind in TokenKind.further where Int.random(in: 0..<3, using: &generator) == 0 {
                tokens[kind] = try token("\(kind) \(number)")
            }
            for (kind, token) in tokens.merging([.alert: device.token], uniquingKeysWith: { first, _ in first }) {
                var issued = Issued(token: token, kind: kind, platform: device.platform)
                // Now and then a backend registers a token as what it is not.
                if Int.random(in: 0..<12, using: &generator) == 0 { issued.kind = .controls }
                if Int.random(in: 0..<12, using: &generator) == 0 { issued.platform = .apnsSandbox }
                let isDead = Int.random(in: 0..<12, using: &generator) == 0
                if isDead { apns.dead.insert(issued) } else { apns.live.insert(issued) }
            }
            let topics = number % 3 == 0 ? ["news"] : []
            registrations.append(DeviceRegistration(device: device, topics: topics, tokens: tokens))
        }
        let oracle = apns
        let bench = try PipelineBench(transport: FakeTransport { request, _ in .answered(oracle.answer(request)) })
        defer { bench.stop() }
        let registry = try bench.registry()
        try registry.register(registrations)
        let all = (oracle.live.union(oracle.dead)).map(\.token).sorted { $0.hexadecimal < $1.hexadecimal }
        var messages: [Message] = []
        for number in 0..<400 {
            // Half of them are alerts, so that there are good answers among the bad ones.
            let type = number % 2 == 0 ? .alert : PushType.allCases.randomElement(using: &generator) ?? .alert
            let one = Int.random(in: 0..<60, using: &generator)
            let target =
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: #""deviceIds":["device-\#(one)","device-\#((one * 7) % 60)","nobody"]"#
                case 1: #""identityIds":["i:\#(one % 7)"]"#
                case 2: #""userIds":["u\#(one % 5)"]"#
                case 3: #""topic":"news""#
                default:
                    targetOfTokens((0..<3).compactMap { _ in all.randomElement(using: &generator) } + [try token("?")])
                }
            messages.append(message("e\(number)", type: type, target: target))
        }
        for part in stride(from: 0, to: messages.count, by: 20) {
            bench.broker.deliver(Array(messages[part..<part + 20]))
            let count = part + 20
            await bench.broker.wait { $0.settledTags.count == count }
        }
        var removedCount = 0
        for registration in registrations {
            let device = registration.device
            let isThere = try registry.device(device.deviceID) != nil
            if !isThere { removedCount += 1 }
            let alert = Issued(token: device.token, kind: .alert, platform: device.platform)
            #expect(isThere || !oracle.live.contains(alert), "\(device.deviceID)")
            let kept = try registry.tokens(of: [device.deviceID])[0]
            for further in registration.furtherTokens where isThere {
                let issued = Issued(token: further.token, kind: further.kind, platform: device.platform)
                #expect(
                    kept.contains(further) || !oracle.live.contains(issued), "\(further.kind) of \(device.deviceID)")
            }
        }
        #expect(removedCount > 0, "dead devices are removed all the same")
        #expect(try await bench.dispatch.pushCounts()[0].isBalanced)
    }

    @Test("A push goes to the device's token of its kind, and a retry to the same")
    func kindOfDevice() async throws {
        let transport = FakeTransport { _, attempt in
            .answered(attempt <= 2 ? PushAnswer(status: 429, reason: "TooManyRequests") : PushAnswer(status: 200))
        }
        let bench = try PipelineBench(transport: transport)
        defer { bench.stop() }
        let call = try token("call")
        try bench.registry().register([
            DeviceRegistration(device: device(0, platform: .apnsSandbox), tokens: [.voip: call]),
            DeviceRegistration(device: device(1)),
        ])
        bench.broker.deliver([
            message("1", type: .voip, target: #""deviceIds":["device-0","device-1"]"#),
            message("2", type: .voip, target: targetOfTokens([call])),
        ])
        await bench.broker.wait { $0.requeued(in: "apus.retry.1s").count == 2 }
        bench.broker.deliverQueued(in: "apus.retry.1s")
        await bench.broker.wait { $0.settledTags.count == 4 }
        #expect(transport.requests.map(\.token) == [call, call, call, call])
        #expect(transport.requests.allSatisfy { $0.route == 1 && $0.content.topic == "com.example.chat.voip" })
        let text = bench.metrics.render()
        #expect(text.contains(#"apus_devices_without_token_total{app="chat",kind="voip"} 1"#), "\(text)")
    }

    @Test(
        "An event whose whole target has no token of its kind becomes a dead letter that says so",
        arguments: [
            #""deviceIds":["device-0","device-1"]"#, #""identityIds":["i:0","i:1"]"#, #""userIds":["u0","u1"]"#,
            #""topic":"news""#, #""deviceTokens":["6465766963652d30","6465766963652d31"]"#,
        ])
    func withoutToken(target: String) async throws {
        // Pages of one device: none of them can tell of the whole target.
        var limits = DispatchLimits()
        limits.devicesPerPageMaximum = 1
        limits.devicesPerBulkPageMaximum = 1
        limits.bulkDevicesWaitingMaximum = 0
        let bench = try PipelineBench(transport: FakeTransport(), limits: limits)
        defer { bench.stop() }
        try bench.registry().register((0..<2).map { DeviceRegistration(device: device($0), topics: ["news"]) })
        bench.broker.deliver([message("1", type: .voip, target: target)])
        await bench.broker.wait { $0.settledTags.count == 1 }
        let letters = bench.broker.requeued(in: "apus.dead-letter")
        #expect(letters.map { $0.header(RetryHeader.reason) } == [.string("no-token")])
        #expect("\(letters[0].header(RetryHeader.detail) as Any)".contains("voip"))
        #expect(bench.transport.requests.isEmpty && bench.broker.requeued(in: "apus.fanout").isEmpty)
    }

    @Test("A token that is registered as another kind is left out, and unregistered tokens are pushed to")
    func rawTokens() async throws {
        let bench = try PipelineBench(transport: FakeTransport())
        defer { bench.stop() }
        let (call, widget, unknown) = (try token("call"), try token("widget"), try token("unknown"))
        try bench.registry().register([
            DeviceRegistration(device: device(0), tokens: [.voip: call, .widgets: widget])
        ])
        let alert = device(0).token
        bench.broker.deliver([
            message("1", type: .voip, target: targetOfTokens([alert, widget, call, unknown])),
            message("2", type: .alert, target: targetOfTokens([alert, widget, call, unknown])),
        ])
        await bench.broker.wait { $0.settledTags.count == 2 }
        let voip = bench.transport.requests.filter { $0.content.pushType == .voip }.map(\.token)
        let alerts = bench.transport.requests.filter { $0.content.pushType == .alert }.map(\.token)
        #expect(voip == [call, unknown] && alerts == [alert, unknown])
        #expect(bench.broker.requeued(in: "apus.dead-letter").isEmpty)
    }

    @Test("An update of a Live Activity to devices is refused, because their tokens only start one")
    func updateOfLiveActivity() async throws {
        let bench = try PipelineBench(transport: FakeTransport())
        defer { bench.stop() }
        try bench.registry().register([
            DeviceRegistration(device: device(0), tokens: [.liveactivity: try token("start")])
        ])
        let update = #"{"event":"update","timestamp":5,"contentState":{}}"#
        let activity = try token("of the activity")
        let targets = [#""deviceIds":["device-0"]"#, targetOfTokens([activity])]
        let messages = targets.enumerated().map { number, target in
            message("\(number)", type: .liveactivity, target: target, notification: update)
        }
        bench.broker.deliver(messages)
        await bench.broker.wait { $0.settledTags.count == 2 }
        let letters = bench.broker.requeued(in: "apus.dead-letter")
        #expect(letters.map { $0.header(RetryHeader.reason) } == [.string("no-token")])
        #expect(bench.transport.requests.map(\.token) == [activity])
    }
}
