import ChangeEvents
import DispatchCore
import Essentials
import Notifications
import PushTestKit
import Testing

/// Spans are measured with the monotonic clock, so only dates follow a wall clock that somebody sets.
@Suite("A wall clock that is set")
struct DispatchClockTests {
    /// A machine in a world where the wall clock is set forwards or backwards again and again.
    private struct World {
        var machine: DispatchStateMachine
        var actions = DispatchActions()
        /// The behaviour that can be seen from outside, step by step.
        var trace: [String] = []
        private var nextDelivery: UInt64 = 0
        private var milliseconds: Int64 = 0
        private var wallMilliseconds = Self.start
        private let stepMilliseconds: Int64

        private static let start: Int64 = 1_700_000_000_000

        init(wallStepMilliseconds: Int64) {
            var limits = DispatchLimits()
            limits.pushesInFlightMaximum = 400
            limits.unsettledDeliveriesMaximum = 100
            machine = Samples.machine(limits: limits, appCount: 2)
            stepMilliseconds = wallStepMilliseconds
        }

        private var now: Moment {
            Moment(wall: WallTime(milliseconds: wallMilliseconds), monotonic: Samples.monotonic(milliseconds))
        }

        mutating func arrive(_ app: AppRoute, devices: Int, deliveryClass: DeliveryClass = .interactive) {
            nextDelivery += 1
            let devices = (0..<devices).map { Samples.device("\(nextDelivery)-\($0)", app: app.name) }
            let retryState = RetryState(of: Samples.delivery(), nowMilliseconds: Self.start)
            machine.jobArrived(
                Samples.job(
                    number: nextDelivery, devices: devices, deliveryClass: deliveryClass, apps: [app],
                    retryState: retryState),
                into: &actions)
        }

        /// Lets time pass, sets the wall clock, and sends what may be sent.
        mutating func send(afterMilliseconds passed: Int64) -> [PushRequest] {
            milliseconds += passed
            wallMilliseconds += passed + (trace.count.isMultiple(of: 2) ? stepMilliseconds : -stepMilliseconds)
            actions.sends = []
            machine.sendWaiting(at: now, into: &actions)
            trace.append(
                """
                \(actions.sends.count) sent, \(actions.publishes.map(\.routingKey)), \(machine.pushesInFlight) out, \
                slow \(machine.health.slowApps), held \(machine.health.suspendedApps), \
                restricted \(machine.isBulkRestricted), paced \(machine.isBulkPaced), \
                watching \(machine.health.isWatching)
                """)
            let publishes = actions.publishes
            actions.publishes = []
            for publish in publishes { machine.publishEnded(publish.identifier, .confirmed, into: &actions) }
            defer { actions.sends = [] }
            return actions.sends
        }

        mutating func end(_ requests: [PushRequest], _ status: Int = 200, afterMilliseconds delay: UInt64 = 0) {
            for request in requests {
                machine.pushEnded(
                    AttemptResult(
                        identifier: request.identifier,
                        outcome: .answered(
                            PushAnswer(status: status, reason: status == 403 ? "InvalidProviderToken" : "")),
                        durationNanoseconds: delay * 1_000_000), at: now, into: &actions)
            }
        }

        func saw(_ text: String) -> Bool { trace.contains { $0.contains(text) } }
    }

    private static let steps: [Int64] = [-1_200_000, -700, 700, 1_200_000]

    /// Plays the same with a clock that is set and with one that is not.
    private func expectSame(_ step: Int64, _ play: (inout World) -> Void) -> World {
        var worlds = [0, step].map { World(wallStepMilliseconds: $0) }
        for place in worlds.indices { play(&worlds[place]) }
        #expect(worlds[0].trace == worlds[1].trace)
        return worlds[0]
    }

    @Test(
        "A clock that is set makes no app slow and none quick, and nothing is given up sooner or later",
        arguments: steps)
    func slowApps(step: Int64) {
        let world = expectSame(step) { world in
            for _ in 0..<60 { world.arrive(Samples.app, devices: 1) }
            var stuck: [PushRequest] = []
            for _ in 0..<30 {
                world.arrive(Samples.mail, devices: 4)
                let sent = world.send(afterMilliseconds: 250)
                stuck += sent.filter { $0.route == Samples.app.productionRoute }
                world.end(sent.filter { $0.route == Samples.mail.productionRoute })
            }
            world.end(stuck)
            for _ in 0..<10 {
                world.arrive(Samples.app, devices: 1)
                world.end(world.send(afterMilliseconds: 100))
            }
        }
        #expect(world.saw("slow [0]") && world.saw("retry") && world.trace.last?.contains("slow []") == true)
    }

    @Test("A clock that is set lets no probe of a refused key out sooner or later", arguments: steps)
    func refusedKey(step: Int64) {
        let world = expectSame(step) { world in
            world.arrive(Samples.app, devices: 1)
            world.end(world.send(afterMilliseconds: 0), 403)
            for _ in 0..<70 {
                world.arrive(Samples.app, devices: 2)
                world.end(world.send(afterMilliseconds: 1_000), 403)
            }
        }
        let sends = world.trace.count { $0.hasPrefix("1 sent") || $0.hasPrefix("2 sent") }
        #expect((3...10).contains(sends), "the first pushes and few probes, in 70 seconds")
    }

    @Test(
        "A clock that is set neither restricts large fan-outs nor frees them, and does not change their pace",
        arguments: steps)
    func bulk(step: Int64) {
        let world = expectSame(step) { world in
            world.arrive(Samples.app, devices: 20_000, deliveryClass: .bulk)
            for _ in 0..<40 {
                world.arrive(Samples.mail, devices: 1)
                var sent = world.send(afterMilliseconds: 1)
                for _ in 0..<20 { sent += world.send(afterMilliseconds: 1) }
                world.end(sent, afterMilliseconds: 20)
            }
            for _ in 0..<20 { world.end(world.send(afterMilliseconds: 100), afterMilliseconds: 20) }
        }
        #expect(world.saw("restricted true, paced true") && world.saw("restricted false"))
    }
}
