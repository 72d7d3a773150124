import Crypto
import EventLoop
import Foundation
import JSON
import PushServiceSimulator
import SimulatorTestClient
import Synchronization
import Testing

@testable import APNsSimulator

@Suite("The simulator over TLS and HTTP/2", .timeLimit(.minutes(10)))
struct APNsSimulatorTests {
    private let factory: TokenFactory
    private let token: String

    init() throws {
        factory = try TokenFactory()
        token = try factory.token(issuedAtSeconds: WallClock.nowMilliseconds() / 1_000)
    }

    /// The configuration of the tests, with changes.
    private func configured(_ change: (inout SimulatorConfiguration) -> Void = { _ in }) -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration()
        configuration.teamKeys = [factory.teamKey]
        configuration.bundleIDs = [RequestFacts.bundleID]
        configuration.recordsInMemoryMaximum = 10_000
        change(&configuration)
        return configuration
    }

    /// Runs a simulator and a client of it, and answers with the final numbers.
    @discardableResult
    private func run(
        _ configuration: SimulatorConfiguration? = nil,
        _ body: (SimulatorClient, APNsSimulator) async throws -> Void
    ) async throws -> SimulatorSummary {
        let simulator = try await APNsSimulator.start(configuration ?? configured())
        let client = try await SimulatorClient.connect(to: simulator)
        try await body(client, simulator)
        try await client.close()
        return try await simulator.stop()
    }

    private func identifier(_ number: Int) -> String {
        "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - String(number).count) + String(number)
    }

    private func script(_ text: String) throws -> AnswerScript {
        try AnswerScript(parsing: Array(text.utf8), nowMilliseconds: 1_700_000_000_000)
    }

    @Test("An accepted push is answered with its apns-id and no body")
    func acceptedPush() async throws {
        let summary = try await run { client, _ in
            let response = await client.send(WireRequest(token: token))
            #expect(response.answer?.headers == ["apns-id": "123e4567-e89b-42d3-a456-426614174000"])
            #expect(response.status == 200 && response.body == "")
            let second = await client.send(WireRequest(token: token).with("apns-id", nil))
            #expect(second.apnsID.map { Array($0.utf8).withUnsafeBufferPointer { UUIDText.parse($0) != nil } } == true)
        }
        #expect(summary.accepted == 2)
        #expect(summary.connections == 1)
        #expect(summary.distinctMessages == 1)
    }

    @Test("A refused push is answered with Apple's reason in JSON")
    func refusedPush() async throws {
        let faults: [(String, String?, Rejection)] = [
            ("authorization", nil, .missingProviderToken),
            ("authorization", "bearer a.b.c", .invalidProviderToken),
            (":method", "PUT", .methodNotAllowed),
            (":path", "/3/device/", .missingDeviceToken),
            (":path", "/4/device/00", .badPath),
            ("apns-priority", "2", .badPriority),
            ("apns-topic", "com.example.other", .topicDisallowed),
            ("apns-topic", nil, .missingTopic),
        ]
        let summary = try await run { client, _ in
            for (name, value, expected) in faults {
                let response = await client.send(WireRequest(token: token).with(name, value))
                #expect(
                    response.answer?.headers == [
                        "apns-id": "123e4567-e89b-42d3-a456-426614174000", "content-type": "application/json",
                    ])
                #expect(
                    response.status == expected.status
                        && response.body == "{\"reason\":\"\(expected.rawValue)\"}")
            }
            var empty = WireRequest(token: token)
            empty.body = []
            #expect(await client.send(empty).body == #"{"reason":"PayloadEmpty"}"#)
            var large = WireRequest(token: token)
            large.body = [UInt8](repeating: 0x20, count: 300_000)
            #expect(await client.send(large).status == 413)
        }
        #expect(summary.answered == faults.count + 2)
        #expect(summary.accepted == 0)
        #expect(summary.answers.allSatisfy { $0.count == 1 })
    }

    @Test("One stream is allowed until a valid token has come, then as many as configured")
    func streamLimit() async throws {
        let summary = try await run(configured { $0.maxConcurrentStreams = 250 }) { client, _ in
            #expect(await client.streamLimits(count: 1) == [1])
            #expect(await client.send(WireRequest(token: "a.b.c")).status == 403)
            #expect(await client.streamLimits(count: 1) == [1])
            #expect(await client.send(WireRequest(token: token, deviceToken: "zz")).status == 400)
            #expect(await client.streamLimits(count: 2) == [1, 250])
            let requests = (0..<200).map { WireRequest(token: token).with("apns-id", identifier($0)) }
            #expect(await client.send(requests).allSatisfy { $0.status == 200 })
        }
        #expect(summary.unauthenticatedStreamsMaximum == 1)
        #expect(summary.concurrentStreamsMaximum <= 250)
        #expect(summary.distinctMessages == 200)
        #expect(summary.protocolViolations == 0)
    }

    @Test("The script's answers are given, and steps are used up")
    func scriptedAnswers() async throws {
        let script = try script(
            """
            {"token":"aa","answer":"unregistered","since":1600000000123}
            {"token":"bb","answer":"throttle","times":2}
            {"token":"cc","answer":"status","status":503,"reason":"Shutdown","times":1}
            {"token":"dd","answer":"delay","delay":5}
            """)
        try await run(configured { $0.script = script }) { client, _ in
            let request = WireRequest(token: token)
            func responses(_ deviceToken: String, _ count: Int) async -> [String?] {
                var bodies: [String?] = []
                for _ in 0..<count {
                    bodies.append(await client.send(request.with(":path", "/3/device/" + deviceToken)).body)
                }
                return bodies
            }
            #expect(await responses("aa01", 1) == [#"{"reason":"Unregistered","timestamp":1600000000123}"#])
            let throttled = #"{"reason":"TooManyRequests"}"#
            #expect(await responses("bb01", 3) == [throttled, throttled, ""])
            #expect(await responses("bb02", 1) == [throttled])
            #expect(await responses("cc01", 2) == [#"{"reason":"Shutdown"}"#, ""])
            #expect(await responses("dd01", 1) == [""])
            #expect(await responses("ee01", 1) == [""])
        }
    }

    @Test("A token takes pushes to the topic of its kind only")
    func kindsOfTokens() async throws {
        let script = try script(
            """
            {"token":"aa","kind":"alert","answer":"accept"}
            {"token":"bb","kind":"voip","answer":"unregistered","since":1600000000123}
            """)
        try await run(configured { $0.script = script }) { client, _ in
            func body(_ deviceToken: String, _ type: String, _ suffix: String) async -> String? {
                let request = WireRequest(token: token).with(":path", "/3/device/" + deviceToken)
                let topic = RequestFacts.bundleID + suffix
                return await client.send(request.with("apns-push-type", type).with("apns-topic", topic)).body
            }
            let notForTopic = #"{"reason":"DeviceTokenNotForTopic"}"#
            #expect(await body("aa01", "alert", "") == "")
            #expect(await body("aa01", "voip", ".voip") == notForTopic)
            #expect(await body("bb01", "voip", ".voip") == #"{"reason":"Unregistered","timestamp":1600000000123}"#)
            #expect(await body("bb01", "pushtotalk", ".voip-ptt") == notForTopic)
            #expect(await body("bb01", "alert", "") == notForTopic)
            #expect(await body("cc01", "voip", ".voip") == "", "tokens without a kind are of any")
        }
    }

    @Test("A token that is never answered leaves the others alone")
    func silentToken() async throws {
        let script = try script(#"{"token":"aa","answer":"silent"}"#)
        let summary = try await run(configured { $0.script = script }) { client, _ in
            _ = await client.send(WireRequest(token: token))
            _ = await client.streamLimits(count: 2)
            let silent = WireRequest(token: token, deviceToken: "aa00")
            let given = try #require(await client.sendWithoutWaiting(silent))
            _ = try await client.sendWithoutWaiting(silent)
            #expect(await client.send(WireRequest(token: token)).status == 200)
            try await client.reset(given)
            #expect(await client.send(WireRequest(token: token)).status == 200)
        }
        #expect(summary.silent == 2)
        #expect(summary.abandoned == 2)
        #expect(summary.accepted == 3)
    }

    @Test(
        "Answers that take their time all come, in any order",
        arguments: [
            SimulatorConfiguration.Latency.fixed(milliseconds: 5), .uniform(milliseconds: 0...20, seed: 7),
        ])
    func latency(latency: SimulatorConfiguration.Latency) async throws {
        let summary = try await run(configured { $0.latency = latency }) { client, _ in
            _ = await client.send(WireRequest(token: token))
            _ = await client.streamLimits(count: 2)
            let requests = (0..<300).map { WireRequest(token: token).with("apns-id", identifier($0)) }
            let responses = await client.send(requests)
            #expect(responses.map(\.apnsID) == (0..<300).map { identifier($0) })
        }
        #expect(summary.accepted == 301)
        #expect(summary.concurrentStreamsMaximum > 1)
    }

    @Test("A push given up while its answer waits is not recorded")
    func abandonedPush() async throws {
        let script = try script(#"{"token":"aa","answer":"delay","delay":3600000}"#)
        let summary = try await run(configured { $0.script = script }) { client, simulator in
            let stream = try #require(
                await client.sendWithoutWaiting(WireRequest(token: token, deviceToken: "aa00")))
            try await client.reset(stream)
            _ = await client.send(WireRequest(token: token))
            let records = try await simulator.recorded()
            #expect(records.map(\.deviceToken) == [RequestFacts.deviceToken])
        }
        #expect(summary.abandoned == 1)
        #expect(summary.answered == 1)
    }

    @Test("The answer that a fault gives is recorded as it was given")
    func faultyAnswersAreRecorded() async throws {
        let fault = #"{"fault":"answer","status":410,"reason":"Unregistered","timestamp":1700000000000,"times":1}"#
        let faults = try SimulatorFaults(parsing: Array(fault.utf8))
        _ = try await run(configured { $0.faults = faults }) { client, simulator in
            #expect(await client.send(WireRequest(token: token)).status == 410)
            #expect(await client.send(WireRequest(token: token)).status == 200)
            let records = try await simulator.recorded()
            #expect(records.map(\.status) == [410, 200] && records.map(\.reason) == ["Unregistered", nil])
        }
    }

    @Test("Records, in memory and in the file, agree with what the client saw")
    func records() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).ndjson")
        defer { try? FileManager.default.removeItem(at: file) }
        let script = try script(#"{"token":"aa","answer":"bad-device-token"}"#)
        let payload = "{\n \"aps\" : {\"alert\":\"caf\u{e9} \\\"x\\\"\"}}"
        let configure: (inout SimulatorConfiguration) -> Void = { configuration in
            configuration.script = script
            configuration.recordFile = file.path
        }
        let summary = try await run(configured(configure)) { client, simulator in
            var first = WireRequest(token: token, deviceToken: "AB01")
            first.body = Array(payload.utf8)
            for request in [first, first, WireRequest(token: token, deviceToken: "aa00")] {
                _ = await client.send(request.with("apns-collapse-id", nil))
            }
            try await simulator.waitForAnswers(3)
            let records = try await simulator.recorded()
            #expect(records.map(\.status) == [200, 200, 400])
            #expect(records.map(\.isDuplicate) == [false, true, false])
            #expect(records.map(\.deviceToken) == ["ab01", "ab01", "aa00"])
            #expect(records[0].payload == Array(payload.utf8))
            #expect(records[0].pushType == "alert" && records[0].topic == RequestFacts.bundleID)
            #expect(records[2].reason == "BadDeviceToken")
        }
        #expect(summary.duplicates == 1)
        #expect(summary.recordsLost == 0)
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let parser = JSONParser()
        #expect(lines.count == 3)
        let second = try parser.parse(String(lines[1]))
        #expect(second["duplicate"]?.bool == true)
        #expect(second["token"]?.string == "ab01")
        #expect(second["priority"]?.string == "10")
        #expect(second["collapse_id"]?.isNull == true)
        #expect(second["payload"]?["aps"]?["alert"]?.string == "café \"x\"")
        let third = try parser.parse(String(lines[2]))
        #expect(third["payload"]?["aps"]?["alert"]?.string == "Hello")
        #expect(third["reason"]?.string == "BadDeviceToken" && third["status"]?.int64 == 400)
        let numbers = try parser.parse(summary.json)
        #expect(numbers["answered"]?.int64 == 3 && numbers["accepted"]?.int64 == 2)
    }

    @Test("A provider token ages by the simulator's clock")
    func agingToken() async throws {
        let clock = MovableClock()
        try await run(configured { $0.wallClockMilliseconds = { clock.nowMilliseconds } }) { client, _ in
            #expect(await client.send(WireRequest(token: token)).status == 200)
            clock.advance(bySeconds: 3_700)
            #expect(await client.send(WireRequest(token: token)).body == #"{"reason":"ExpiredProviderToken"}"#)
            let next = try factory.token(issuedAtSeconds: clock.nowMilliseconds / 1_000)
            #expect(await client.send(WireRequest(token: next)).status == 200)
            clock.advance(bySeconds: 60)
            let tooEarly = try factory.token(issuedAtSeconds: clock.nowMilliseconds / 1_000)
            #expect(
                await client.send(WireRequest(token: tooEarly)).body == #"{"reason":"TooManyProviderTokenUpdates"}"#)
        }
    }

    @Test("A connection keeps to the key that it began with, another may use another")
    func unrelatedKey() async throws {
        var other = try TokenFactory()
        other.keyID = "XYZ123DEFG"
        let otherKey = other.teamKey
        let otherToken = try other.token(issuedAtSeconds: WallClock.nowMilliseconds() / 1_000)
        try await run(configured { $0.teamKeys.append(otherKey) }) { client, simulator in
            #expect(await client.send(WireRequest(token: token)).status == 200)
            #expect(await client.send(WireRequest(token: otherToken)).body == #"{"reason":"UnrelatedKeyIdInToken"}"#)
            let second = try await SimulatorClient.connect(to: simulator)
            #expect(await second.send(WireRequest(token: otherToken)).status == 200)
            try await second.close()
        }
    }

    @Test("A trusting simulator accepts everything and allows all streams at once")
    func trusting() async throws {
        let summary = try await run(configured { $0.isTrusting = true }) { client, _ in
            #expect(await client.streamLimits(count: 1) == [1_000])
            let requests = (0..<50).map { _ in WireRequest(token: "none", deviceToken: "zz") }
            #expect(await client.send(requests).allSatisfy { $0.status == 200 })
        }
        #expect(summary.accepted == 50)
    }

    @Test("Several loops share the connections, and find duplicates together")
    func severalLoops() async throws {
        let summary = try await run(configured { $0.loopCount = 3 }) { client, simulator in
            var clients = [client]
            for _ in 0..<5 { clients.append(try await SimulatorClient.connect(to: simulator)) }
            for client in clients { #expect(await client.send(WireRequest(token: token)).status == 200) }
            for client in clients.dropFirst() { try await client.close() }
            try await simulator.waitForAnswers(6)
            let records = try await simulator.recorded()
            #expect(records.count == 6)
        }
        #expect(summary.connections == 6)
        #expect(summary.duplicates == 5)
    }

    @Test("Clients that send garbage, or nothing, do no harm")
    func garbage() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let summary = try await run(configured { $0.connectionsMaximum = 200 }) { client, simulator in
            for (index, bytes) in GarbageClient.samples(seed: seed).enumerated() {
                try GarbageClient.send(bytes, port: simulator.port)
                #expect(await client.send(WireRequest(token: token)).status == 200, "seed \(seed), sample \(index)")
            }
        }
        #expect(summary.connections == 1 + GarbageClient.sampleCount, "seed \(seed)")
    }

    @Test("A configuration that cannot work is refused with the reason")
    func badConfigurations() async throws {
        var configuration = SimulatorConfiguration()
        configuration.teamKeys = [factory.teamKey]
        func error(_ change: (inout SimulatorConfiguration) -> Void) async -> SimulatorError.Code? {
            var copy = configuration
            change(&copy)
            let error = await #expect(throws: SimulatorError.self) { _ = try await APNsSimulator.start(copy) }
            return error?.code
        }
        #expect(await error { $0.teamKeys = [] } == .configurationInvalid)
        #expect(await error { $0.host = "0.0.0.0" } == .configurationInvalid)
        #expect(await error { $0.loopCount = 0 } == .configurationInvalid)
        #expect(await error { $0.teamKeys[0].publicKeyPEM = "no key" } == .keyInvalid)
        #expect(await error { $0.recordFile = "/nowhere/at/all" } == .fileFailed)
        let simulator = try await APNsSimulator.start(configuration)
        let port = simulator.port
        #expect(await error { $0.port = port } == .listenFailed)
        try await simulator.stop()
    }
}
