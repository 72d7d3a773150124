import PushTestKit
import Testing

@testable import ServiceClient

@Suite("One route over HTTP/1.1: when pushes go out")
struct HTTP1RouteMachineTests {
    private static let second: UInt64 = 1_000_000_000

    private static func machine(
        concurrent: Int = 2, outstanding: Int = 100
    ) -> HTTP1RouteMachine {
        var limits = HTTP1Limits()
        limits.concurrentRequestsMaximum = concurrent
        limits.outstandingMaximum = outstanding
        limits.deadlineNanoseconds = 20 * second
        return HTTP1RouteMachine(limits: limits, seed: 1)
    }

    /// A machine whose first probe has succeeded.
    private static func up(concurrent: Int = 2, outstanding: Int = 100) -> HTTP1RouteMachine {
        var machine = machine(concurrent: concurrent, outstanding: outstanding)
        _ = machine.beginsProbe(nowNanoseconds: 0)
        machine.probed(isSuccess: true, nowNanoseconds: 0)
        return machine
    }

    /// Lets a push arrive.
    private static func arrive(at nanoseconds: UInt64, _ machine: inout HTTP1RouteMachine) throws -> Int {
        let push = machine.arrived(nowNanoseconds: nanoseconds)
        return try #require(push)
    }

    @Test("A route begins with a probe, and pushes wait for its end")
    func probesFirst() {
        var machine = Self.machine()
        #expect(machine.wakeUpNanoseconds == 0)
        let push = machine.arrived(nowNanoseconds: 0)
        #expect(machine.next() == nil)
        #expect(machine.beginsProbe(nowNanoseconds: 0) == true)
        #expect(machine.beginsProbe(nowNanoseconds: 0) == false)
        #expect(machine.next() == nil)
        #expect(machine.isReachable == nil)
        machine.probed(isSuccess: true, nowNanoseconds: 1)
        #expect(machine.isReachable == true)
        #expect(machine.next() == push)
    }

    @Test("As many pushes are under way as are allowed, in the order in which they came")
    func limit() {
        var machine = Self.up()
        let pushes = (0..<4).compactMap { _ in machine.arrived(nowNanoseconds: 0) }
        #expect([machine.next(), machine.next(), machine.next()] == [pushes[0], pushes[1], nil])
        machine.answered(pushes[0])
        #expect([machine.next(), machine.next()] == [pushes[2], nil])
        #expect(machine.inFlightCount == 2)
        #expect(machine.waitingCount == 1)
    }

    @Test("One push too many is not taken, and neither is one while the route closes")
    func outstanding() {
        var machine = Self.up(outstanding: 2)
        let first = machine.arrived(nowNanoseconds: 0)
        #expect(first != nil)
        #expect(machine.arrived(nowNanoseconds: 0) != nil)
        #expect(machine.next() == first)
        #expect(machine.arrived(nowNanoseconds: 0) == nil)
        machine.close()
        #expect(machine.abandonWaiting().count == 1)
        #expect(machine.arrived(nowNanoseconds: 0) == nil)
    }

    @Test("A push that was not sent waits for the next probe, and goes before the others")
    func returns() throws {
        var machine = Self.up()
        let pushes = (0..<3).compactMap { _ in machine.arrived(nowNanoseconds: 0) }
        #expect(machine.next() == pushes[0])
        #expect(machine.notSent(pushes[0], nowNanoseconds: 10) == .waits)
        #expect(machine.next() == nil)
        let due = machine.wakeUpNanoseconds
        #expect(due >= 10 && due <= 10 + Self.second)
        #expect(machine.beginsProbe(nowNanoseconds: due) == true)
        machine.probed(isSuccess: true, nowNanoseconds: due)
        #expect(machine.next() == pushes[0])
        #expect(machine.next() == pushes[1])
    }

    @Test("After three failures in a row the route leads nowhere; a probe that succeeds ends that")
    func unreachable() {
        var machine = Self.machine()
        var now: UInt64 = 0
        for failure in 1...5 {
            #expect(machine.beginsProbe(nowNanoseconds: now) == true)
            machine.probed(isSuccess: false, nowNanoseconds: now)
            #expect(machine.isReachable == (failure < 3 ? nil : false))
            #expect(machine.wakeUpNanoseconds <= now + 4 * Self.second)
            now = machine.wakeUpNanoseconds
        }
        #expect(machine.beginsProbe(nowNanoseconds: now) == true)
        machine.probed(isSuccess: true, nowNanoseconds: now)
        #expect(machine.isReachable == true)
    }

    @Test("A push that has waited too long ends, and says that the route leads nowhere")
    func expires() throws {
        var machine = Self.machine()
        let push = try Self.arrive(at: 5, &machine)
        _ = machine.beginsProbe(nowNanoseconds: 5)
        #expect(machine.wakeUpNanoseconds == 5 + 20 * Self.second)
        #expect(machine.expired(nowNanoseconds: 4 + 20 * Self.second) == [])
        #expect(machine.expired(nowNanoseconds: 5 + 20 * Self.second) == [push])
        #expect(machine.isReachable == false)
        #expect(machine.waitingCount == 0)
    }

    @Test("A push that the service did not look at is sent once more, and not a third time")
    func answeredUnprocessed() throws {
        var machine = Self.up()
        let push = try Self.arrive(at: 0, &machine)
        #expect(machine.next() == push)
        #expect(machine.answeredUnprocessed(push) == .waits)
        #expect(machine.next() == push)
        #expect(machine.answeredUnprocessed(push) == .ends)
        #expect(machine.isIdle)
    }

    @Test("Whatever happens, each push ends once, and no more are under way than are allowed", arguments: 0..<40)
    func walk(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var machine = Self.machine(concurrent: 3, outstanding: 20)
        var open: Set<Int> = []
        var inFlight: Set<Int> = []
        var now: UInt64 = 0
        func end(_ push: Int) { #expect(open.remove(push) != nil) }
        for _ in 0..<2_000 {
            now += UInt64.random(in: 0...Self.second / 2, using: &random)
            for push in machine.expired(nowNanoseconds: now) { end(push) }
            if machine.beginsProbe(nowNanoseconds: now) {
                machine.probed(isSuccess: Bool.random(using: &random), nowNanoseconds: now)
            }
            while let push = machine.next() { #expect(inFlight.insert(push).inserted) }
            #expect(inFlight.count <= 3)
            #expect(machine.inFlightCount == inFlight.count)
            #expect(machine.inFlightCount + machine.waitingCount == open.count)
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                let push = machine.arrived(nowNanoseconds: now)
                if let push { #expect(open.insert(push).inserted) } else { #expect(open.count == 20) }
            case 2:
                guard let push = inFlight.randomElement(using: &random) else { continue }
                inFlight.remove(push)
                machine.answered(push)
                end(push)
            case 3:
                guard let push = inFlight.randomElement(using: &random) else { continue }
                inFlight.remove(push)
                if machine.notSent(push, nowNanoseconds: now) == .ends { end(push) }
            case 4:
                guard let push = inFlight.randomElement(using: &random) else { continue }
                inFlight.remove(push)
                machine.ended(push)
                end(push)
            default:
                guard let push = inFlight.randomElement(using: &random) else { continue }
                inFlight.remove(push)
                if machine.answeredUnprocessed(push) == .ends { end(push) }
            }
        }
        for push in machine.abandonWaiting() { end(push) }
        #expect(open == inFlight)
    }
}
