import APNsSimulator
import APNsTransport
import ConnectionPool
import Crypto
import Notifications
import PushServiceSimulator
import PushTestKit
import ServiceClient
import Synchronization
import Testing

@Suite("Client: what authenticates its pushes")
struct AuthorizerTests {
    private static let accepted = AttemptOutcome.answered(PushAnswer(status: 200))

    private static func source(_ key: ES256PrivateKey, secondsAgo: Int64 = 0) throws -> ProviderTokenSource {
        try ProviderTokenSource(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ") {
            let now = ProviderTokenSource.systemClock()
            return .init(
                wallSeconds: now.wallSeconds - secondsAgo, monotonicNanoseconds: now.monotonicNanoseconds)
        }
    }

    @Test("A route without authorization leads nowhere; the client asks again by itself until it leads there again")
    func unavailable() async throws {
        let authorizer = ScriptedAuthorizer(.unavailable(reason: "no access token: 503"))
        var key: ES256PrivateKey?
        let world = try await SimulatorWorld(authorizer: {
            key = $0
            return authorizer
        })
        world.fixture.send(0..<10)
        let ended = await world.fixture.results.wait(count: 10)
        #expect(ended.map(\.outcome) == Array(repeating: .notProcessed("no access token: 503"), count: 10))
        #expect(await world.fixture.results.reachability.wait { $0.last == false })
        authorizer.set(.ready(try Self.source(try #require(key)).token()))
        // Nobody sends on a route that leads nowhere, and the authorizer does not call back.
        #expect(await world.fixture.results.reachability.wait { $0.last == true })
        world.fixture.send(10..<20)
        #expect(await world.fixture.results.wait(count: 20).count { $0.outcome == Self.accepted } == 10)
        #expect(try await world.end().accepted == 10)
    }

    @Test("While the authorization is fetched pushes wait, and go out when the authorizer calls back")
    func pending() async throws {
        let authorizer = ScriptedAuthorizer(.pending)
        var key: ES256PrivateKey?
        let world = try await SimulatorWorld(authorizer: {
            key = $0
            return authorizer
        })
        world.fixture.send(0..<10)
        #expect(await authorizer.questions.wait { $0 > 0 })
        #expect(world.fixture.results.results.value.isEmpty)
        authorizer.set(.ready(try Self.source(try #require(key)).token()), callsBack: true)
        #expect(await world.fixture.results.wait(count: 10).count { $0.outcome == Self.accepted } == 10)
        #expect(try await world.end().accepted == 10)
    }

    @Test("Credentials that are refused answer each push with 401 and the reason, and nothing is sent")
    func refused() async throws {
        let authorizer = ScriptedAuthorizer(.refused(reason: "invalid_grant"))
        let world = try await SimulatorWorld(authorizer: { _ in authorizer })
        world.fixture.send(0..<10)
        let ended = await world.fixture.results.wait(count: 10)
        let refused = AttemptOutcome.answered(PushAnswer(status: 401, reason: "invalid_grant"))
        #expect(ended.map(\.outcome) == Array(repeating: refused, count: 10))
        #expect(try await world.end().accepted == 0)
    }

    @Test("Pushes that were refused with an expired authorization wait until the next one has come")
    func expired() async throws {
        let authorizer = ScriptedAuthorizer(.pending, whenExpired: .pending)
        var key: ES256PrivateKey?
        let world = try await SimulatorWorld(authorizer: {
            key = $0
            authorizer.set(.ready(try Self.source($0, secondsAgo: 7_200).token()))
            return authorizer
        })
        world.fixture.send(0..<10)
        #expect(await authorizer.expirations.wait { $0 > 0 })
        let newest = try Self.source(try #require(key)).token()
        let next = Authorization(generation: 2, keyGeneration: 1, headerValue: newest.headerValue)
        authorizer.set(.ready(next), callsBack: true)
        #expect(await world.fixture.results.wait(count: 10).count { $0.outcome == Self.accepted } == 10)
        #expect(try await world.end().accepted == 10)
    }
}

/// An authorizer that says what a test wants.
private final class ScriptedAuthorizer: Authorizer {
    private struct State {
        var answer: AuthorizationState
        var observers: [@Sendable () -> Void] = []
    }

    /// How often it was asked.
    let questions = Watched(0)
    /// How often it was told that an authorization has expired.
    let expirations = Watched(0)
    private let state: Mutex<State>
    private let whenExpired: AuthorizationState?

    init(_ answer: AuthorizationState, whenExpired: AuthorizationState? = nil) {
        state = Mutex(State(answer: answer))
        self.whenExpired = whenExpired
    }

    func set(_ answer: AuthorizationState, callsBack: Bool = false) {
        let observers = state.withLock { state in
            state.answer = answer
            return callsBack ? state.observers : []
        }
        for observer in observers { observer() }
    }

    func authorization() -> AuthorizationState {
        questions.update { $0 += 1 }
        return state.withLock { $0.answer }
    }

    func authorizationExpired(generation: UInt64) -> AuthorizationState {
        let answer = state.withLock { state in
            if let whenExpired, case .ready(let present) = state.answer, present.generation == generation {
                state.answer = whenExpired
            }
            return state.answer
        }
        expirations.update { $0 += 1 }
        return answer
    }

    func observe(_ changed: @escaping @Sendable () -> Void) { state.withLock { $0.observers.append(changed) } }
}
