import ChangeEvents
import Essentials
import Notifications
import Testing

@testable import DispatchCore

@Suite("How late pushes are")
struct LagTests {
    private var machine = Samples.machine()
    private var actions = DispatchActions()

    /// The lags so far, each as its milliseconds and its count.
    private var lags: [[Int64]] { actions.lags.map { [$0.milliseconds, Int64($0.count)] } }

    /// Sends an event that was published at 0 to devices, half a second later.
    private mutating func send(to devices: [String], expiresAtMilliseconds: Int64? = nil) -> [PushRequest] {
        var retryState = RetryState(of: Samples.delivery(), nowMilliseconds: 0)
        retryState.expiresAt = expiresAtMilliseconds.map { WallTime(milliseconds: $0) }
        machine.jobArrived(
            Samples.job(devices: devices.map { Samples.device($0) }, retryState: retryState), into: &actions)
        machine.sendWaiting(at: Samples.moment(500), into: &actions)
        return actions.sends
    }

    private mutating func answer(_ request: PushRequest, _ status: Int, _ reason: String = "", at now: Int64) {
        machine.pushEnded(
            AttemptResult(
                identifier: request.identifier, outcome: .answered(PushAnswer(status: status, reason: reason)),
                durationNanoseconds: 0), at: Samples.moment(now), into: &actions)
    }

    @Test("A push counts when it is accepted, not when it is sent; a dead token does not count")
    mutating func accepted() {
        let requests = send(to: ["a", "b"])
        #expect(requests.count == 2 && lags.isEmpty)
        answer(requests[0], 200, at: 700)
        answer(requests[1], 410, "Unregistered", at: 800)
        #expect(lags == [[700, 1]] && actions.lags.first?.apnsID == requests[0].apnsID)
    }

    @Test("Pushes that have to be retried count with the age that they have at the next attempt")
    mutating func retried() {
        for request in send(to: ["a", "b"]) { answer(request, 429, "TooManyRequests", at: 700) }
        #expect(lags == [[1_700, 2]])
    }

    @Test("An expired push counts with its expiration, and one that an operator has paused does not")
    mutating func expiredAndPaused() {
        for request in send(to: ["a"], expiresAtMilliseconds: 900) { answer(request, 429, "TooManyRequests", at: 700) }
        #expect(lags == [[900, 1]] && machine.pushCounts[0].expired == 1)
        actions = DispatchActions()
        machine.setPaused([0])
        #expect(send(to: ["a"]).isEmpty && lags.isEmpty && actions.publishes.count == 1)
    }

    @Test("A whole event that becomes a dead letter is counted, and no push with it")
    mutating func wholeEvents() {
        let delivery = Samples.delivery()
        machine.deliveryRejected(
            [delivery.tag], message: delivery.message, retryState: RetryState(of: delivery, nowMilliseconds: 0),
            reason: "invalid-json", detail: "", into: &actions)
        #expect(machine.eventsDeadLettered == 0, "nothing is confirmed yet")
        for publish in actions.publishes { machine.publishEnded(publish.identifier, .confirmed, into: &actions) }
        #expect(machine.eventsDeadLettered == 1 && machine.pushCounts.allSatisfy { $0.deadLettered == 0 })
    }
}
