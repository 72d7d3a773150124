import Synchronization
import Testing
import WebPush
import WebPushSimulator

@Suite("Web Push: the articles' examples run")
struct ArticleExampleTests {
    @Test("The first push, and every further one, is accepted by the simulator")
    func pushesAreAccepted() async throws {
        let services = try await BrowserServices()
        #expect(try await ArticleExamples.firstPush(services.configuration(), json: try services.json(1)).isAccepted)
        #expect(try ArticleExamples.makeKey().applicationServerKey != services.key.applicationServerKey)
        let client = try services.client()
        for message in try ArticleExamples.messages() {
            let sent = await client.send(message, to: try services.subscription(1))
            #expect(sent.isAccepted)
        }
        await client.close()
        try await services.simulator.stop()
    }

    @Test("Sending to many removes the one that is gone, and handling outcomes sends later what is refused for now")
    func manyAndOutcomes() async throws {
        let services = try await BrowserServices(
            script: """
                {"subscription":"mozilla-0000001","answer":"gone"}
                {"subscription":"mozilla-0000002","answer":"throttled","retry_after":90}
                """)
        let client = try services.client()
        let subscriptions = try (0..<3).map { try services.subscription($0, of: "mozilla") }
        let message = try WebPushMessage("Hello".utf8)
        let removed = Mutex<[WebPushSubscription]>([])
        let later = Mutex<[WebPushSubscription: Duration]>([:])
        try await ArticleExamples.many(
            client, message, subscriptions: subscriptions,
            subscriptionsFromTheDatabase: AsyncStream { continuation in
                for subscription in subscriptions { continuation.yield(subscription) }
                continuation.finish()
            }, removeFromTheDatabase: { subscription in removed.withLock { $0.append(subscription) } })
        #expect(removed.withLock { $0 } == [subscriptions[1]])
        for result in await client.send(message, to: subscriptions) {
            await ArticleExamples.outcomes(
                result, removeFromTheDatabase: { subscription in removed.withLock { $0.append(subscription) } },
                sendLater: { subscription, after in later.withLock { $0[subscription] = after } })
        }
        #expect(removed.withLock { $0 } == [subscriptions[1], subscriptions[1]])
        #expect(later.withLock { $0 } == [subscriptions[2]: .seconds(90)])
        await client.close()
        try await services.simulator.stop()
    }
}
