import Notifications
import Testing

@testable import ServiceClient

@Suite("The authorization of a route's requests")
final class RouteAuthorizationTests {
    private static let second = RouteAuthorization.checkNanoseconds
    private static let noToken = AttemptOutcome.notProcessed("503")
    private static let badGrant = AttemptOutcome.answered(PushAnswer(status: 401, reason: "invalid_grant"))

    private var authorization = RouteAuthorization()

    private static func ready(_ generation: UInt64, key: UInt64 = 1) -> AuthorizationState {
        .ready(Authorization(generation: generation, keyGeneration: key, headerValue: []))
    }

    private func isDue(_ nanoseconds: UInt64, isNeeded: Bool = true) -> Bool {
        authorization.isDue(isNeeded: isNeeded, nowNanoseconds: nanoseconds)
    }

    private func answered(_ state: AuthorizationState) -> RouteAuthorization.News { authorization.answered(state) }

    // MARK: Questions

    @Test("The authorizer is asked at most once a second, and only while a push waits")
    func isAskedOnceASecond() {
        #expect(!isDue(5, isNeeded: false))
        #expect(isDue(5))
        _ = answered(Self.ready(1))
        #expect(!isDue(4 + Self.second))
        #expect(isDue(5 + Self.second))
        authorization.mayHaveChanged()
        #expect(isDue(6 + Self.second), "the authorizer said that it has something new")
        #expect(authorization.recheckNanoseconds == .max)
    }

    @Test("A route that leads nowhere is asked about again although no push waits, also while the authorizer tries")
    func isAskedAgainWithoutPushes() {
        #expect(isDue(5))
        _ = answered(.unavailable(reason: "503"))
        #expect(authorization.recheckNanoseconds == 5 + Self.second)
        #expect(isDue(5 + Self.second, isNeeded: false))
        _ = answered(.pending)
        #expect(authorization.isUnavailable)
        #expect(isDue(5 + 2 * Self.second, isNeeded: false))
        _ = answered(Self.ready(1))
        #expect(!isDue(5 + 4 * Self.second, isNeeded: false))
    }

    // MARK: Pushes that wait

    @Test("Waiting pushes end when none can be authenticated, and wait while the authorizer tries")
    func waitingPushes() {
        #expect(authorization.waitingOutcome == nil, "nothing is known yet")
        #expect(authorization.absence == "there is no authorization")
        _ = answered(.unavailable(reason: "503"))
        #expect(authorization.waitingOutcome == Self.noToken)
        _ = answered(.pending)
        #expect(authorization.waitingOutcome == nil)
        #expect(authorization.absence == "503", "the reason is kept for pushes whose time is over")
        _ = answered(.refused(reason: "invalid_grant"))
        #expect(authorization.waitingOutcome == Self.badGrant)
        #expect(!authorization.isUnavailable, "each push has its answer")
        _ = answered(Self.ready(1))
        #expect(authorization.waitingOutcome == nil && authorization.absence == nil)
    }

    @Test("A problem is news once, and again after an authorization")
    func problemIsNewsOnce() {
        #expect(answered(.unavailable(reason: "503")).problem == "503")
        #expect(answered(.unavailable(reason: "503")).problem == nil)
        #expect(answered(.pending).problem == nil)
        #expect(answered(.refused(reason: "503")).problem == "503", "it is for an operator now")
        #expect(answered(Self.ready(1)).problem == nil)
        #expect(answered(.refused(reason: "503")).problem == "503")
    }

    @Test("Another key is news, and the first key and a newer authorization of the same key are none")
    func otherKeyIsNews() {
        #expect(!answered(Self.ready(1)).isOtherKey)
        #expect(!answered(Self.ready(2)).isOtherKey)
        #expect(answered(Self.ready(3, key: 2)).isOtherKey)
    }

    // MARK: Refusals

    @Test("A push that an expired authorization refused goes out again if a newer one is there or may come")
    func expired() {
        var connection = ConnectionAuthorization()
        connection.sent(7)
        func isAgain(_ renewed: AuthorizationState?) -> Bool {
            RouteAuthorization.isWorthAnotherTry(.authorizationExpired, on: connection, renewed: renewed)
        }
        #expect(isAgain(Self.ready(8)))
        #expect(isAgain(.pending))
        #expect(!isAgain(Self.ready(7)), "no other authorization can be had")
        #expect(!isAgain(.unavailable(reason: "503")))
        #expect(!isAgain(.refused(reason: "invalid_grant")))
        #expect(!isAgain(nil))
    }

    @Test("A late refusal of an older authorization says nothing of the newer one on the same connection")
    func lateRefusal() {
        var connection = ConnectionAuthorization()
        connection.sent(1, on: 1)
        connection.sent(1, on: 3)
        connection.sent(2, on: 5)
        func isAgain(_ stream: Int32) -> Bool {
            RouteAuthorization.isWorthAnotherTry(
                .authorizationExpired, on: connection, stream: stream, renewed: Self.ready(2))
        }
        #expect(connection.isOutdated(on: 3) && isAgain(3), "its request had the first authorization")
        #expect(!connection.isOutdated(on: 5) && !isAgain(5), "the newer one was refused, too")
    }

    @Test("A wedged connection is worth another try only if it took an authorization before")
    func wedged() {
        var connection = ConnectionAuthorization()
        func isAgain() -> Bool {
            RouteAuthorization.isWorthAnotherTry(.connectionWedged, on: connection, renewed: nil)
        }
        #expect(!isAgain())
        connection.accepted()
        #expect(isAgain())
    }

    @Test("A proven connection is replaced after three refusals in a row, an unproven one after as many as are allowed")
    func replacesConnections() {
        var connection = ConnectionAuthorization()
        func refusals(_ count: Int, replacesUnproven: Bool = true) -> [Bool] {
            (0..<count).map { _ in connection.refused(refusalsMaximum: 4, replacesUnproven: replacesUnproven) }
        }
        #expect(refusals(5) == [false, false, false, true, false], "it is replaced once")
        connection.accepted()
        #expect(refusals(2) == [false, false])
        connection.accepted()
        #expect(refusals(4) == [false, false, true, false], "an accepted push begins the row anew")
        connection = ConnectionAuthorization()
        #expect(refusals(5, replacesUnproven: false) == Array(repeating: false, count: 5))
    }
}
