import FoundationEssentials
import PushServiceSimulator
import PushTestKit
import Synchronization
import Testing
import WebPush
import WebPushSimulator

@Suite("Web Push client: sending, against the simulator")
struct WebPushClientTests {
    private static let hello = Result { try WebPushMessage("Hello".utf8) }

    /// Runs a simulator and a client of it.
    private func run(
        script: String = "", changed change: (inout WebPushConfiguration) -> Void = { _ in },
        _ body: (WebPushClient, BrowserServices) async throws -> Void
    ) async throws {
        let services = try await BrowserServices(script: script)
        var configuration = services.configuration()
        change(&configuration)
        let client = try WebPushClient(configuration)
        try await body(client, services)
        await client.close()
        try await services.simulator.stop()
    }

    @Test("A message is decrypted by the browser, with the fields that it asks for")
    func sendsToOne() async throws {
        try await run { client, services in
            let message = try WebPushMessage(
                json: ["title": "Mei"], timeToLive: .seconds(60), urgency: .high, topic: "room-7")
            let started = ContinuousClock.now
            let result = await client.send(message, to: try services.subscription(3))
            #expect(result.isAccepted && !result.isGone && !result.isWorthRetrying)
            let record = try #require(try await services.simulator.recorded().first)
            #expect(record.subscription == "plain-0000003" && record.plaintext == Array(#"{"title":"Mei"}"#.utf8))
            #expect(record.urgency == "high" && record.topic == "room-7")
            // The time to live is counted in whole seconds when the push goes out, which is later than the call.
            let passedSeconds = (ContinuousClock.now - started).components.seconds + 1
            #expect((60 - passedSeconds...60).contains(try #require(record.ttlSeconds)))
        }
    }

    @Test("Without options a push waits four weeks, of normal urgency; nothing and the largest content both arrive")
    func sendsDefaults() async throws {
        try await run { client, services in
            for bytes in [[], [UInt8](repeating: 0xFF, count: WebPushMessage.contentBytesMaximum)] {
                let sent = await client.send(try WebPushMessage(bytes), to: try services.subscription(1))
                #expect(sent.isAccepted)
                let record = try #require(try await services.simulator.recorded().last)
                #expect(record.ttlSeconds == 2_419_200 && record.urgency == "normal" && record.topic == nil)
                #expect((record.plaintext ?? []) == bytes)
            }
        }
    }

    @Test("Each refusal says what to change, and how long to wait")
    func tellsRefusals() async throws {
        let lines = [
            #"{"subscription":"mozilla-0000000","answer":"gone"}"#,
            #"{"subscription":"mozilla-0000001","answer":"throttled","retry_after":900}"#,
            #"{"subscription":"mozilla-0000002","answer":"unavailable"}"#,
            #"{"subscription":"mozilla-0000003","answer":"limit","bytes":103}"#,
            #"{"subscription":"mozilla-0000004","answer":"redirect"}"#,
        ]
        try await run(script: lines.joined(separator: "\n")) { client, services in
            var results: [WebPushResult] = []
            for number in lines.indices {
                results.append(
                    await client.send(try Self.hello.get(), to: try services.subscription(number, of: "mozilla")))
            }
            let rejections = results.map { result -> WebPushRejection? in
                if case .rejected(let rejection) = result.outcome { rejection } else { nil }
            }
            #expect(
                rejections.map { $0?.remedy }
                    == [.removeSubscription, .sendLater, .sendLater, .correctMessage, .correctMessage])
            #expect(rejections.map { $0?.retryAfter } == [nil, .seconds(900), .seconds(120), nil, nil])
            #expect(rejections.map { $0?.status } == [410, 429, 503, 413, 307])
            #expect(results.map(\.isGone) == [true, false, false, false, false])
            #expect(results.map(\.isWorthRetrying) == [false, true, true, false, false])
        }
    }

    @Test("A subscription that was made with another key is told apart, and a refused key blames no subscription")
    func tellsKeys() async throws {
        let script = """
            {"subscription":"fcm-0000001","answer":"other-key"}
            {"subscription":"mozilla-","answer":"unauthorized"}
            """
        try await run(script: script) { client, services in
            let refused = await client.send(try Self.hello.get(), to: try services.subscription(0, of: "mozilla"))
            guard case .rejected(let rejection) = refused.outcome else {
                Issue.record("not rejected: \(refused)")
                return
            }
            #expect(rejection.remedy == .correctKey && !rejection.isPermanent && !refused.isGone)
            let other = await client.send(try Self.hello.get(), to: try services.subscription(1, of: "fcm"))
            guard case .rejected(let rejection) = other.outcome else {
                Issue.record("not rejected: \(other)")
                return
            }
            #expect(rejection.remedy == .removeSubscriptionOrCorrectKey && rejection.isPermanent, "\(rejection)")
        }
    }

    @Test("Many browsers of several services have their results in order, as an array and as they are read")
    func sendsToMany() async throws {
        try await run(script: #"{"subscription":"mozilla-0000007","answer":"gone"}"#) { client, services in
            let subscriptions = try (0..<200).map { number in
                try services.subscription(number / 2, of: number % 2 == 0 ? "plain" : "mozilla")
            }
            let results = await client.send(try Self.hello.get(), to: subscriptions)
            #expect(results.map(\.subscription) == subscriptions)
            #expect(results.indices.filter { !results[$0].isAccepted } == [15] && results[15].isGone)
            var seen = Set<WebPushSubscription>()
            for await result in client.results(of: try Self.hello.get(), to: subscriptions.lazy.map(\.self)) {
                seen.insert(result.subscription)
            }
            #expect(seen == Set(subscriptions))
            let (stream, continuation) = AsyncStream.makeStream(of: WebPushSubscription.self)
            continuation.yield(subscriptions[0])
            continuation.finish()
            for await result in client.results(of: try Self.hello.get(), to: stream) { #expect(result.isAccepted) }
        }
    }

    @Test("A push service that speaks HTTP/1.1 only gets its pushes, and answers, like any other")
    func speaksHTTP1() async throws {
        let script = #"{"subscription":"old-0000002","answer":"gone"}"#
        let services = try await BrowserServices(script: script) { configuration in
            var origin = WebPushSimulatorConfiguration.Origin(.plain, name: "old")
            origin.speaksHTTP1 = true
            configuration.origins = [origin]
        }
        let client = try services.client()
        let message = try Self.hello.get()
        // The client learns by the first that there is no HTTP/2.
        _ = await client.send(message, to: try services.subscription(1, of: "old"))
        let results = await client.send(message, to: try (1...2).map { try services.subscription($0, of: "old") })
        #expect(results.map(\.isAccepted) == [true, false] && results[1].isGone, "\(results.map(\.outcome))")
        await client.close()
        try await services.simulator.stop()
    }

    @Test("An endpoint that leads to a private address gets no push, unless its host is trusted")
    func keepsToPublicAddresses() async throws {
        let trustingNobody: (inout WebPushConfiguration) -> Void = { $0.trustedHosts = [] }
        try await run(changed: trustingNobody) { client, services in
            let local = try services.subscription(1)
            let ports = await client.send(try Self.hello.get(), to: local)
            #expect(ports.isGone, "only port 443 is admitted: \(ports.outcome)")
            let subscription = try WebPushSubscription(
                endpoint: "https://localhost/push", p256dh: local.p256dh, auth: local.auth)
            let result = await client.send(try Self.hello.get(), to: subscription)
            #expect(result.isGone, "\(result.outcome)")
            #expect(try await services.simulator.summary().serving.connections == 0)
        }
        let onlyLargeServices: (inout WebPushConfiguration) -> Void = { configuration in
            configuration.trustedHosts = []
            configuration.allowsOnlyLargeServices = true
        }
        try await run(changed: onlyLargeServices) { client, services in
            let sent = await client.send(try Self.hello.get(), to: try services.subscription(1))
            #expect(sent.isGone)
        }
    }

    @Test("Pushes go through a proxy, are counted by outcome, and fail for certain after the end")
    func usesAProxyAndMeasures() async throws {
        let services = try await BrowserServices()
        let url = try services.simulator.url(ofOrigin: "plain")
        let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
        let proxy = try await ConnectProxy.start(.tunnelTo(port: port))
        var configuration = services.configuration(name: "shop")
        configuration.proxyURL = "http://127.0.0.1:\(proxy.port)"
        let counters = Counters()
        let client = try WebPushClient(configuration, metricsFactory: counters)
        let sent = await client.send(try Self.hello.get(), to: try services.subscription(1))
        #expect(sent.isAccepted)
        #expect(proxy.requests.value.count == 1)
        await client.close()
        let late = await client.send(try Self.hello.get(), to: try services.subscription(1))
        #expect(late.outcome == .failed(.notProcessed("the transport is closed")))
        #expect(
            counters.sums.withLock { $0 } == [
                "webpush_pushes_total app=shop outcome=accepted": 1,
                "webpush_pushes_total app=shop outcome=not_processed": 1,
            ])
        try await services.simulator.stop()
        try await proxy.stop()
    }

    /// Keeps the sums of counters.
    private final class Counters: PushMetricsFactory, Sendable {
        let sums = Mutex<[String: Int64]>([:])

        func makeCounter(label: String, dimensions: [(String, String)]) -> @Sendable (Int64) -> Void {
            let name = label + dimensions.map { " \($0)=\($1)" }.joined()
            return { amount in self.sums.withLock { $0[name, default: 0] += amount } }
        }

        func makeTimer(label: String, dimensions: [(String, String)]) -> @Sendable (Int64) -> Void { { _ in } }
        func makeMeter(label: String, dimensions: [(String, String)]) -> @Sendable (Double) -> Void { { _ in } }
    }
}
