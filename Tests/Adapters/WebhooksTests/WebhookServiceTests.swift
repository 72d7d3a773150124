import ChangeQueue
import HTTPClient
import Metrics
import PushTestKit
import Testing
import Webhooks

@Suite("Outcomes posted to backends", .timeLimit(.minutes(10)))
struct WebhookServiceTests {
    @Test("An outcome reaches its backend signed, with the identifier of its message, and is then acknowledged")
    func delivered() async throws {
        let fixture = try await WebhookFixture(apps: ["chat"])
        let service = try fixture.start([fixture.endpoint("chat")])
        try await fixture.publish(["one"], app: "chat")
        try await fixture.wait(for: 1, at: "/chat")
        let request = try #require(fixture.requests(at: "/chat").first)
        #expect(request.identifier == "one" && request.signature.hasPrefix("v1,"))
        let body = String(decoding: request.body, as: UTF8.self)
        #expect(body.hasPrefix(#"{"type":"apus.push.accepted","timestamp":"20"#))
        #expect(body.hasSuffix(#""data":{"outcome":"accepted","app":"chat","event":{"id":"one"}}}"#))
        try await fixture.waitForMessages(0, in: fixture.names.webhook(app: "chat"))
        try await fixture.waitUntilWell(service)
        #expect(service.health.endpoints.first?.endpointProblem == nil)
        #expect(await service.stop(withinSeconds: 60))
        let metrics = fixture.metrics.render()
        #expect(metrics.contains(#"apus_webhook_deliveries_total{app="chat",result="delivered"} 1"#))
        #expect(metrics.contains(#"apus_webhook_requests_total{app="chat",status="2xx"} 1"#))
        fixture.end()
    }

    @Test("What a backend answers with 500 waits in a retry queue, and is posted again with the same identifier")
    func retried() async throws {
        let fixture = try await WebhookFixture(apps: ["chat"])
        fixture.backend.update { $0.answers["/chat"] = [500] }
        let service = try fixture.start([fixture.endpoint("chat")])
        try await fixture.publish(["one", "two"], app: "chat")
        try await fixture.wait(for: 3, at: "/chat")
        let requests = fixture.requests(at: "/chat")
        #expect(requests[2].identifier == requests[0].identifier && requests[2].body == requests[0].body)
        #expect(Set(requests.map(\.identifier)) == ["one", "two"])
        // The retry queue's own wait lies between them.
        let times = requests.compactMap { Int64($0.timestamp) }
        #expect(times.count == 3 && times[2] - times[0] >= 4)
        for queue in [
            fixture.names.webhook(app: "chat"), fixture.names.webhookRetry(app: "chat", delayMilliseconds: 5_000),
        ] {
            try await fixture.waitForMessages(0, in: queue)
        }
        #expect(await service.stop(withinSeconds: 60))
        #expect(fixture.metrics.render().contains(#"{app="chat",result="retried"} 1"#))
        fixture.end()
    }

    @Test("A backend that does not answer in time has not taken the outcome, which waits in a retry queue")
    func timeout() async throws {
        let fixture = try await WebhookFixture(apps: ["chat"])
        // The first request that arrives is held. On a busy machine it need not be that of the first attempt.
        fixture.backend.update { backend in
            backend.heldPaths = ["/chat"]
            backend.holdMaximum = 1
        }
        var endpoint = try fixture.endpoint("chat")
        endpoint.timeoutNanoseconds = 2_000_000_000
        let service = try fixture.start([endpoint])
        try await fixture.publish(["one"], app: "chat")
        try await fixture.wait(for: 2, at: "/chat")
        let requests = fixture.requests(at: "/chat")
        #expect(Set(requests.map(\.identifier)) == ["one"])
        // The timeout and the retry queue's own wait lie between them.
        let times = requests.compactMap { Int64($0.timestamp) }
        #expect(times.count >= 2 && times[1] - times[0] >= 6)
        #expect(await service.stop(withinSeconds: 60))
        let metrics = fixture.metrics.render()
        #expect(metrics.contains(#"apus_webhook_requests_total{app="chat",status="none"}"#))
        #expect(metrics.contains(#"apus_webhook_deliveries_total{app="chat",result="retried"}"#))
        fixture.end()
    }

    @Test("An answer that is long in coming holds up no other outcome of the app")
    func lateAnswer() async throws {
        let fixture = try await WebhookFixture(apps: ["chat"])
        fixture.backend.update { backend in
            backend.heldPaths = ["/chat"]
            backend.holdMaximum = 1
        }
        let service = try fixture.start([fixture.endpoint("chat")])
        try await fixture.publish((0..<200).map { "\($0)" }, app: "chat")
        try await fixture.wait(for: 200, at: "/chat")
        #expect(fixture.backend.value.held.count == 1)
        try await fixture.waitForMessages(1, in: fixture.names.webhook(app: "chat"))
        fixture.release()
        #expect(await service.stop(withinSeconds: 60))
        try await fixture.waitForMessages(0, in: fixture.names.webhook(app: "chat"))
        fixture.end()
    }

    @Test("A silent backend and one that refuses connections hold up no other, and get few requests at once")
    func isolation() async throws {
        let fixture = try await WebhookFixture(apps: ["silent", "dead", "well"])
        fixture.backend.update { $0.heldPaths = ["/silent"] }
        let deadPort = try FreePorts.find(1)[0]
        let service = try fixture.start([
            fixture.endpoint("silent"), fixture.endpoint("dead", port: deadPort), fixture.endpoint("well"),
        ])
        for app in ["silent", "dead"] { try await fixture.publish((0..<40).map { "\(app)-\($0)" }, app: app) }
        try #require(await fixture.backend.wait { $0.held.count == 8 })
        #expect(await fixture.log.wait(for: "webhook.failing", "dead"))
        try await fixture.publish((0..<100).map { "well-\($0)" }, app: "well")
        try await fixture.wait(for: 100, at: "/well")
        #expect(fixture.backend.value.heldMaximum == 8)
        #expect(fixture.requests(at: "/silent").count == 8)
        try await fixture.waitUntilWell(service)
        #expect(service.health.endpoints.map { $0.endpointProblem != nil } == [false, true, false])
        fixture.release()
        try await fixture.wait(for: 40, at: "/silent")
        #expect(await service.stop(withinSeconds: 60))
        // Nothing of the dead backend is lost: it waits in its queue, or for its next attempt.
        try await eventually("the outcomes for the dead backend", equals: 40) {
            let counts = try await fixture.broker.messageCounts(namespace: fixture.names.namespace)
            return counts.filter { $0.key.hasSuffix(".dead") }.values.reduce(0, +)
        }
        fixture.end()
    }

    @Test("What a stopped service had under way is posted by the next one, and nothing is lost")
    func stoppedInTheMiddle() async throws {
        let fixture = try await WebhookFixture(apps: ["chat"])
        fixture.backend.update { $0.heldPaths = ["/chat"] }
        let first = try fixture.start([fixture.endpoint("chat")])
        try await fixture.publish((0..<20).map { "\($0)" }, app: "chat")
        try #require(await fixture.backend.wait { $0.held.count == 8 })
        #expect(await !first.stop(withinSeconds: 0))
        fixture.release()
        let second = try fixture.start([fixture.endpoint("chat")])
        let all = Set((0..<20).map { "\($0)" })
        try #require(await fixture.backend.wait { Set($0.requests.dropFirst(8).map(\.identifier)) == all })
        #expect(await second.stop(withinSeconds: 60))
        fixture.end()
    }

    @Test("A stop waits for the answers that are under way, and acknowledges what they took")
    func gracefulStop() async throws {
        let fixture = try await WebhookFixture(apps: ["chat"])
        fixture.backend.update { $0.heldPaths = ["/chat"] }
        let service = try fixture.start([fixture.endpoint("chat")])
        try await fixture.publish(["one"], app: "chat")
        try #require(await fixture.backend.wait { $0.held.count == 1 })
        async let end = service.stop(withinSeconds: 60)
        fixture.release()
        #expect(await end)
        try await fixture.waitForMessages(0, in: fixture.names.webhook(app: "chat"))
        #expect(fixture.requests(at: "/chat").count == 1)
        fixture.end()
    }

    @Test("While a stop waits for a silent backend, the outcomes of other apps go to another process")
    func stopLetsGo() async throws {
        let fixture = try await WebhookFixture(apps: ["silent", "well"])
        fixture.backend.update { $0.heldPaths = ["/silent"] }
        let first = try fixture.start([fixture.endpoint("silent"), fixture.endpoint("well")])
        try await fixture.publish(["one"], app: "silent")
        try #require(await fixture.backend.wait { $0.held.count == 1 })
        let second = try fixture.start([fixture.endpoint("well")])
        async let end = first.stop(withinSeconds: 600)
        try await fixture.publish((0..<100).map { "\($0)" }, app: "well")
        try await fixture.wait(for: 100, at: "/well")
        try await fixture.waitForMessages(0, in: fixture.names.webhook(app: "well"))
        #expect(fixture.backend.value.held.count == 1)
        fixture.release()
        #expect(await end)
        #expect(await second.stop(withinSeconds: 60))
        fixture.end()
    }

    @Test("Several requests that are answered with 410 at once are one word in the log")
    func goneOnce() async throws {
        let fixture = try await WebhookFixture(apps: ["gone"])
        fixture.backend.update { $0.answers["/gone"] = [Int](repeating: 410, count: 8) }
        let service = try fixture.start([fixture.endpoint("gone")])
        try await fixture.publish((0..<8).map { "\($0)" }, app: "gone")
        #expect(await fixture.log.wait(for: "webhook.gone"))
        #expect(await service.stop(withinSeconds: 60))
        #expect(fixture.log.lines.value.count { $0.contains("webhook.gone") } == 1)
        try await fixture.waitForMessages(8, in: fixture.names.webhook(app: "gone"))
        fixture.end()
    }

    @Test("A backend that answers 410 gets nothing more, its outcomes stay in their queue, and others go on")
    func gone() async throws {
        let fixture = try await WebhookFixture(apps: ["gone", "well"])
        fixture.backend.update { $0.answers["/gone"] = [410] }
        let service = try fixture.start([fixture.endpoint("gone"), fixture.endpoint("well")])
        try await fixture.publish(["one"], app: "gone")
        #expect(await fixture.log.wait(for: "webhook.gone"))
        try await fixture.publish(["two"], app: "gone")
        try await fixture.publish(["three"], app: "well")
        try await fixture.wait(for: 1, at: "/well")
        #expect(fixture.requests(at: "/gone").count == 1)
        #expect(service.health.endpoints[0].endpointProblem?.contains("410") == true)
        #expect(fixture.metrics.render().contains(#"apus_webhook_endpoint_up{app="gone"} 0"#))
        #expect(await service.stop(withinSeconds: 60))
        try await fixture.waitForMessages(2, in: fixture.names.webhook(app: "gone"))
        fixture.end()
    }

    @Test("An address that is not allowed is not connected to, whatever the name resolves to; the outcome waits")
    func refusedAddress() async throws {
        let fixture = try await WebhookFixture(apps: ["chat"])
        var endpoint = try fixture.endpoint("chat")
        endpoint.address.destination.admitsAddress = { address in address.first != 127 && address.last != 1 }
        let service = try fixture.start([endpoint])
        try await fixture.publish(["0", "1", "2", "3", "4"], app: "chat")
        #expect(await fixture.log.wait(for: "webhook.failing", "no address of the name may be connected to"))
        try await fixture.waitForMessages(0, in: fixture.names.webhook(app: "chat"))
        #expect(await service.stop(withinSeconds: 60))
        #expect(fixture.backend.value.requests.isEmpty)
        fixture.end()
    }

    @Test("What is no outcome is dropped with a word in the log, and the secret is never in the log")
    func malformed() async throws {
        let fixture = try await WebhookFixture(apps: ["chat"])
        fixture.backend.update { $0.answers["/chat"] = [500, 410] }
        let service = try fixture.start([fixture.endpoint("chat")])
        try await fixture.publish(["not an identifier"], app: "chat")
        #expect(await fixture.log.wait(for: "webhook.dropped", "identifier"))
        try await fixture.publish(["one"], app: "chat")
        #expect(await fixture.log.wait(for: "webhook.gone"))
        #expect(await service.stop(withinSeconds: 60))
        let log = fixture.log.lines.value.joined(separator: "\n")
        #expect(!log.contains("MfKQ") && !log.contains("v1,") && !log.contains("/chat"), "\(log)")
        fixture.end()
    }
}

@Suite("The queues of webhooks", .timeLimit(.minutes(10)))
struct WebhookTopologyTests {
    @Test("Each has its limit and what it does when it is full, and each retry queue leads back to its own app")
    func limits() async throws {
        let broker = try await PrivateRabbitMQ.shared()
        let namespace = PrivateRabbitMQ.makeNamespace()
        let configuration = try BrokerConfiguration(urls: [broker.url], namespace: namespace)
        let topology = Topology(
            namespace: namespace, retryDelaysMilliseconds: [],
            webhooks: [
                WebhookQueue(app: "chat", messagesMaximum: 7),
                WebhookQueue(app: "chat.5s.mail", messagesMaximum: 9, overflow: .refuse),
            ])
        #expect(try await topology.findMissingWebhooks(at: configuration).count == 12)
        _ = try await topology.apply(to: configuration)
        #expect(try await topology.findMissingWebhooks(at: configuration).isEmpty)
        #expect(try await topology.check(configuration).allSatisfy { $0.status == .present })
        let listed = try await broker.control("list_queues", "name", "arguments")
        func arguments(_ queue: String) throws -> String {
            String(try #require(listed.split(separator: "\n").first { $0.hasPrefix("\(namespace).\(queue)\t") }))
        }
        let chat = try arguments("outcomes.webhook.chat")
        #expect(chat.contains(#""x-max-length",7"#) && chat.contains(#""x-overflow","drop-head""#), "\(chat)")
        let mail = try arguments("outcomes.webhook.chat.5s.mail")
        #expect(mail.contains(#""x-max-length",9"#) && mail.contains(#""x-overflow","reject-publish""#), "\(mail)")
        let retry = try arguments("outcomes.webhook-retry.2h.chat.5s.mail")
        #expect(retry.contains(#""x-message-ttl",7200000"#) && retry.contains("\(namespace).outcomes.webhook.chat.5s"))
        #expect(retry.contains(#""x-max-length",9"#) && retry.contains("at-least-once"), "\(retry)")
    }

    @Test("An app gets its own outcomes alone, however many dots its name has")
    func dottedNames() async throws {
        let apps = ["chat", "com.example.chat", "com.example"]
        let fixture = try await WebhookFixture(apps: apps)
        for app in apps { try await fixture.publish([app.replacing(".", with: "-")], app: app) }
        for app in apps { try await fixture.waitForMessages(1, in: fixture.names.webhook(app: app)) }
        let service = try fixture.start(apps.map { try fixture.endpoint($0) })
        for app in apps { try await fixture.wait(for: 1, at: "/\(app)") }
        #expect(
            Set(fixture.backend.value.requests.map(\.summary))
                == Set(apps.map { "/\($0) \($0.replacing(".", with: "-"))" }))
        #expect(await service.stop(withinSeconds: 60))
        fixture.end()
    }
}
