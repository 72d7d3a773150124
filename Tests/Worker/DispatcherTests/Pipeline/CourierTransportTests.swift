import EventLoop
import Notifications
import PushTestKit
import RegistryCore
import StructuredLogging
import Synchronization
import Testing

@testable import Dispatcher

@Suite("The transport to clients that fetch their notifications")
struct CourierTransportTests {
    /// A registry of the test that several threads may look at, each for itself.
    private final class Store: Sendable {
        let messages = Watched<[CourierMessage]>([])
        let isFailing = Atomic<Bool>(false)
        let openings = Atomic<Int>(0)
    }

    private final class Registry: CourierRegistry {
        private let store: Store

        init(_ store: Store) { self.store = store }

        func deposit(_ messages: [CourierMessage], nowMilliseconds: Int64) throws(RegistryError) -> [Bool] {
            guard !store.isFailing.load(ordering: .relaxed) else { throw RegistryError(.unavailable, "away") }
            store.messages.update { $0 += messages }
            return messages.map { $0.token.bytes.first != 0 }
        }

        func collect(_ tokens: [DeviceToken], nowMilliseconds: Int64) throws(RegistryError) -> [MailboxResult] { [] }
    }

    private final class Results: PushTransportHandler {
        let all = Watched<[AttemptResult]>([])

        func pushesEnded(_ results: [AttemptResult]) { all.update { $0 += results } }
    }

    private let store = Store()
    private let results = Results()
    private let transport: CourierTransport

    init() throws {
        let store = store
        transport = CourierTransport(
            apps: ["chat", "mail"], loop: try EventLoop(name: "registry"),
            logger: .silent, nowMilliseconds: { 5_000 },
            openRegistry: { () throws(RegistryError) in
                store.openings.wrappingAdd(1, ordering: .relaxed)
                return Registry(store)
            })
        transport.start(handler: results)
    }

    private func request(_ identifier: UInt64, route: Int, token: UInt8 = 1, expires: Int64? = nil) throws
        -> PushRequest
    {
        PushRequest(
            identifier: identifier, route: route, token: try #require(DeviceToken(bytes: [token])),
            apnsID: APNsIdentifier(high: 1, low: identifier),
            content: PushContent(
                payload: Array("{}".utf8), topic: "com.example", pushType: .alert, priority: .immediate,
                expirationSeconds: expires, collapseID: "c"))
    }

    @Test("Pushes go to the registry, which is opened once")
    func depositing() async throws {
        transport.send([try request(3, route: 0, expires: 9), try request(5, route: 1)])
        transport.send([try request(6, route: 1, token: 0, expires: 0)])
        #expect(await results.all.wait { $0.count == 3 })
        await transport.close()
        #expect(results.all.value.map(\.identifier) == [3, 5, 6])
        let gone = PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: 5_000)
        #expect(
            results.all.value.map(\.outcome)
                == [.answered(PushAnswer(status: 200)), .answered(PushAnswer(status: 200)), .answered(gone)])
        let messages = store.messages.value
        #expect(messages.map(\.app) == ["chat", "mail", "mail"])
        #expect(messages.map(\.expiresAtMilliseconds) == [9_000, 5_000 + 30 * 86_400_000, 65_000])
        #expect(messages.allSatisfy { $0.collapseID == "c" && $0.payload == Array("{}".utf8) })
        #expect(messages.map(\.pushID.low) == [3, 5, 6])
        #expect(store.openings.load(ordering: .relaxed) == 1)
    }

    @Test("Without such pushes the registry is never opened")
    func nothingToFetch() async throws {
        await transport.close()
        #expect(store.openings.load(ordering: .relaxed) == 0)
    }

    @Test("While the registry is away nothing is accepted, and nothing is lost")
    func registryAway() async throws {
        store.isFailing.store(true, ordering: .relaxed)
        transport.send([try request(1, route: 0), try request(2, route: 1)])
        #expect(await results.all.wait { $0.count == 2 })
        for result in results.all.value {
            guard case .notProcessed = result.outcome else {
                Issue.record("\(result.outcome)")
                continue
            }
        }
        store.isFailing.store(false, ordering: .relaxed)
        transport.send([try request(1, route: 0)])
        #expect(await results.all.wait { $0.last?.outcome == .answered(PushAnswer(status: 200)) })
        await transport.close()
    }
}
