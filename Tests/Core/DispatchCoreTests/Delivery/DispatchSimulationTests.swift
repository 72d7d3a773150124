import ChangeEvents
import DispatchCore
import Messages
import Notifications
import PushTestKit
import RegistryCore
import Testing

/// Runs the machine against a random world and checks, after each step, what must always hold.
@Suite("The life of a delivery, at random")
struct DispatchSimulationTests {
    private struct World {
        var machine: DispatchStateMachine
        var actions = DispatchActions()
        var random: SeededGenerator
        var out: [PushRequest] = []
        var published: [OutgoingMessage] = []
        /// For each delivery, the devices whose pushes have not ended yet.
        var owed: [UInt64: Set<String>] = [:]
        /// For each delivery, the devices of whose pushes its backend has not been told.
        var untold: [UInt64: Set<String>] = [:]
        var settled: Set<UInt64> = []
        var nextDelivery: UInt64 = 0
        var nowMilliseconds: Int64 = 0
        var apps = [Samples.app]
    }

    @Test(
        "Every delivery is settled once, after its pushes ended or are requeued, or rejected if one cannot be requeued",
        arguments: 0..<10 as Range<UInt64>)
    func nothingIsLost(seed: UInt64) {
        var limits = DispatchLimits()
        limits.pushesInFlightMaximum = 7
        limits.devicesPerRequeuedMessageMaximum = 3
        limits.devicesWaitingMaximum = 20
        limits.unsettledDeliveriesMaximum = 10
        let all = OutcomeSelection(OutcomeKind.allCases)
        let chat = seed.isMultiple(of: 3) ? Samples.app : Samples.app(hearing: all)
        let apps = seed.isMultiple(of: 2) ? [chat] : [chat, Samples.app(hearing: all, like: Samples.mail)]
        var world = World(
            machine: Samples.machine(limits: limits, appCount: apps.count), random: SeededGenerator(seed: seed),
            apps: apps)
        for _ in 0..<1_500 {
            step(&world)
            check(world, seed)
        }
        for route in 0..<4 { world.machine.routeChanged(route, isReachable: true) }
        collect(&world)
        while world.machine.jobCount > 0 {
            finishOne(&world)
            collect(&world)
            check(world, seed)
        }
        #expect(world.settled.count == Int(world.nextDelivery), "seed \(seed)")
        #expect(world.machine.pushCounts.allSatisfy { $0.inFlight == 0 && $0.isBalanced }, "seed \(seed)")
    }

    private func step(_ world: inout World) {
        world.nowMilliseconds += Int64.random(in: 0...200, using: &world.random)
        switch Int.random(in: 0..<10, using: &world.random) {
        case 0...2: arrive(&world)
        case 3 where Int.random(in: 0..<20, using: &world.random) == 0:
            world.machine.routeChanged(
                2 * Int.random(in: 0..<2, using: &world.random), isReachable: Bool.random(using: &world.random))
        default: finishOne(&world)
        }
        collect(&world)
    }

    private func arrive(_ world: inout World) {
        world.nextDelivery += 1
        let devices = (0..<Int.random(in: 0...6, using: &world.random)).map { index in
            let app = world.apps.randomElement(using: &world.random)?.name ?? ""
            return Samples.device("d\(world.nextDelivery)-\(index)", app: index == 5 ? "other" : app)
        }
        let deliveryClass = Int.random(in: 0..<3, using: &world.random) == 0 ? DeliveryClass.bulk : .interactive
        world.owed[world.nextDelivery] = Set(devices.map(\.deviceID))
        world.untold[world.nextDelivery] = Set(
            devices.filter { device in world.apps.contains { $0.name == device.app && !$0.outcomes.isEmpty } }
                .map(\.deviceID))
        let job = Samples.job(
            number: world.nextDelivery, devices: devices, deliveryClass: deliveryClass, apps: world.apps)
        world.machine.jobArrived(job, into: &world.actions)
    }

    private func finishOne(_ world: inout World) {
        if !world.out.isEmpty, Bool.random(using: &world.random) || world.published.isEmpty {
            let request = world.out.remove(at: Int.random(in: 0..<world.out.count, using: &world.random))
            let result = AttemptResult(
                identifier: request.identifier, outcome: outcome(&world.random), durationNanoseconds: 0)
            let ended = endedWithoutBroker(world.machine.pushCounts)
            world.machine.pushEnded(result, at: Samples.moment(world.nowMilliseconds), into: &world.actions)
            if endedWithoutBroker(world.machine.pushCounts) > ended {
                forget(String(decoding: request.token.bytes, as: UTF8.self), &world)
            }
        } else if !world.published.isEmpty {
            let index = Int.random(in: 0..<world.published.count, using: &world.random)
            let message = world.published.remove(at: index)
            var outcomes: [PublishOutcome] = [.confirmed, .confirmed, .confirmed, .confirmed, .rejected("too large")]
            // A backend is not told while its exchange is missing, which this world does not model.
            outcomes.append(message.isOptional ? .refused : .returned("no route"))
            let outcome = outcomes.randomElement(using: &world.random) ?? PublishOutcome.confirmed
            let dropped = world.actions.outcomesDropped
            if outcome == .confirmed, !message.isOptional { noteRequeued(message, &world) }
            world.machine.publishEnded(message.identifier, outcome, into: &world.actions)
            if message.isOptional, outcome == .confirmed || world.actions.outcomesDropped > dropped {
                noteTold(message, &world)
            }
        }
    }

    private func outcome(_ random: inout SeededGenerator) -> AttemptOutcome {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: .notProcessed("refused")
        case 1: .ambiguous("deadline")
        case 2: .answered(PushAnswer(status: 429, reason: "TooManyRequests"))
        case 3: .answered(PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: 1))
        case 4: .answered(PushAnswer(status: 413, reason: "PayloadTooLarge"))
        case 5: .answered(PushAnswer(status: 400, reason: "BadDeviceToken"))
        case 6: .answered(PushAnswer(status: 403, reason: "InvalidProviderToken"))
        default: .answered(PushAnswer(status: 200))
        }
    }

    private func endedWithoutBroker(_ pushCounts: [PushCounts]) -> Int {
        pushCounts.reduce(0) { $0 + $1.accepted + $1.tokenDead + $1.expired }
    }

    private func forget(_ device: String, _ world: inout World) {
        // A device is named after its delivery.
        guard let delivery = UInt64(device.dropFirst().prefix { $0.isNumber }) else { return }
        world.owed[delivery]?.remove(device)
    }

    private func noteRequeued(_ message: OutgoingMessage, _ world: inout World) {
        guard case .array(let devices) = message.message.header(RetryHeader.devices) else { return }
        for case .string(let device) in devices { forget(device, &world) }
    }

    private func noteTold(_ message: OutgoingMessage, _ world: inout World) {
        for device in Outcome(message).deviceIDs {
            guard let delivery = UInt64(device.dropFirst().prefix { $0.isNumber }) else { continue }
            world.untold[delivery]?.remove(device)
        }
    }

    private func collect(_ world: inout World) {
        world.machine.sendWaiting(at: Samples.moment(world.nowMilliseconds), into: &world.actions)
        world.out += world.actions.sends
        world.published += world.actions.publishes + world.actions.publishesToRepeat
        for tag in world.actions.settles {
            #expect(world.settled.insert(tag.number).inserted, "a delivery was settled twice")
            #expect(world.owed.removeValue(forKey: tag.number) == [], "delivery \(tag.number) was settled too early")
            #expect(world.untold.removeValue(forKey: tag.number) == [], "nobody was told of delivery \(tag.number)")
        }
        for tag in world.actions.rejections.flatMap(\.tags) {
            #expect(world.settled.insert(tag.number).inserted, "a delivery was rejected and settled")
            #expect(world.owed.removeValue(forKey: tag.number) != [], "delivery \(tag.number) was rejected needlessly")
        }
        world.actions.removeAll()
    }

    /// Looks without `#expect`, which would take most of the time of so many steps.
    private func check(_ world: World, _ seed: UInt64) {
        // Each delivery class has a window of its own.
        if world.machine.pushesInFlight > 14 { Issue.record("\(world.machine.pushesInFlight) are out, seed \(seed)") }
        for broken in world.machine.checkInvariants() { Issue.record("\(broken), seed \(seed)") }
    }
}
