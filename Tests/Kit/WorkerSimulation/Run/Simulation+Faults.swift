import DispatchCore
import RegistryCore

/// The faults, their times and their lengths.
extension Simulation {
    /// By how much a clock may be wrong.
    static var clockErrorMilliseconds: Int64 { 600_000 }

    /// The faults that concern every app, so that the app that is served well may wait as well.
    private static var general: Set<SimulatedFault> {
        [
            .kill, .drain, .consumer, .publisher, .confirms, .nack, .missing, .blocked, .leader, .registrySlow,
            .registryDown, .registryReadOnly, .registryFailover, .outage, .pauseAll, .clock, .environment,
        ]
    }

    /// How long the load lasts, about, in milliseconds.
    private var loadMilliseconds: Int { max(1_000, options.eventCount * 1_000 / options.eventsPerSecond) }

    func scheduleFaults() {
        for fault in SimulatedFault.allCases where options.faults.contains(fault) {
            if fault.intervalSeconds == nil {
                faultBegins(fault)
            } else {
                scheduleNext(fault)
            }
        }
    }

    /// In a short run faults come sooner after each other.
    private func scheduleNext(_ fault: SimulatedFault) {
        guard let seconds = fault.intervalSeconds else { return }
        let mean = min(seconds * 1_000, max(200, loadMilliseconds / 2))
        schedule(.faultBegins(fault), after: faultRandom.nanoseconds(milliseconds: mean / 10...mean * 2))
    }

    func faultBegins(_ fault: SimulatedFault) {
        guard publishedCount < options.eventCount else { return }
        faultCounts[fault, default: 0] += 1
        digest.mix(fault.rawValue.utf8.count)
        let target = begin(fault)
        if Self.general.contains(fault) { quietBegins() }
        guard let target else { return scheduleNext(fault) }
        ongoing[fault, default: 0] += 1
        guard fault.intervalSeconds != nil else { return }
        let range = fault.durationMilliseconds
        let longest = max(20, min(range.upperBound, loadMilliseconds / 3))
        schedule(
            .faultEnds(fault, target: target),
            after: faultRandom.nanoseconds(milliseconds: min(range.lowerBound, longest)...longest))
    }

    func faultEnds(_ fault: SimulatedFault, _ target: Int) {
        guard ongoing[fault, default: 0] > 0 else { return }
        ongoing[fault, default: 0] -= 1
        if Self.general.contains(fault) { quietBegins() }
        end(fault, target)
        scheduleNext(fault)
    }

    /// The last event is published: nothing goes wrong any more.
    func endFaults() {
        for fault in SimulatedFault.allCases where ongoing[fault, default: 0] > 0 {
            ongoing[fault] = 0
            for target in 0..<max(World.appCount, options.workerCount, broker.queues.count) { end(fault, target) }
        }
        quietBegins()
    }

    /// Nothing disturbs all workers from now on, as far as is known.
    private func quietBegins() {
        quietNanoseconds = now
        quietBacklog = broker.waitingCount
    }

    /// Whether something goes on that concerns every app.
    var isDisturbed: Bool { Self.general.contains { ongoing[$0, default: 0] > 0 } }

    // MARK: Beginnings

    /// Begins a fault.
    ///
    /// - Returns: the fault's subject; nil if it is over already.
    private func begin(_ fault: SimulatedFault) -> Int? {
        let worker = workers[faultRandom.below(workers.count)]
        let app = 1 + faultRandom.below(World.appCount - 1)
        switch fault {
        case .kill:
            kill(worker)
            schedule(
                .workerStarts(worker: worker.number), after: faultRandom.nanoseconds(milliseconds: 100...8_000))
            return nil
        case .drain: drain(worker)
        case .consumer: loseConsumer(worker)
        case .publisher: losePublisher(worker)
        case .clock:
            worker.wallOffsetMilliseconds = Int64(
                faultRandom.within(-Int(Self.clockErrorMilliseconds)...Int(Self.clockErrorMilliseconds)))
        case .devices: for _ in 0..<faultRandom.within(1...20) { changeDevice() }
        case .confirms, .nack, .twice, .registrySlow: return 0
        case .answers:
            service.faultsPerMillion = 2_000
            return 0
        case .oversize: broker.messageBytesMaximum = 1_200
        case .missing, .leader, .blocked: return beginAtBroker(fault)
        case .registryDown, .registryReadOnly, .registryFailover: return beginAtRegistry(fault)
        case .slow: return setMood(.slow(milliseconds: faultRandom.within(500...15_000)), app)
        case .silent: return setMood(.silent, app)
        case .key: return setMood(.keyRejected, app)
        case .credentials:
            service.refusesSome = true
            return 0
        case .errors: return setMood(.serverErrors, app)
        case .throttled: return setMood(.throttled, app)
        case .unreachable: return setMood(.unreachable, app)
        case .outage:
            for app in 0..<World.appCount { _ = setMood(.unreachable, app) }
            return 0
        case .pause:
            registry.pausedApps.insert(app)
            return app
        case .pauseAll:
            registry.pausedApps.formUnion(0..<World.appCount)
            return 0
        case .environment:
            restart(worker, wrongApp: app)
            return worker.number
        }
        return nil
    }

    private func beginAtBroker(_ fault: SimulatedFault) -> Int {
        switch fault {
        case .missing:
            let queue = options.workQueueCount + 1 + faultRandom.below(WorkerSetup.retryDelaysMilliseconds.count)
            broker.setThere(false, queue: queue)
            return queue
        case .leader:
            let queue = faultRandom.below(options.workQueueCount + 1)
            broker.setElecting(true, queue: queue)
            return queue
        default: broker.isBlocked = true
        }
        return 0
    }

    private func beginAtRegistry(_ fault: SimulatedFault) -> Int {
        switch fault {
        case .registryDown: registry.failure = RegistryError(.unavailable, "The registry is out of reach.")
        case .registryReadOnly: registry.writeFailure = RegistryError(.readOnly, "The registry can only be read.")
        default: registryIsLosing = true
        }
        return 0
    }

    private func setMood(_ mood: SimulatedPushService.Mood, _ app: Int) -> Int {
        if (service.moods[app] == .unreachable) != (mood == .unreachable) {
            for worker in workers {
                schedule(
                    .routesChange(worker: worker.number, generation: worker.generation, app: app),
                    after: faultRandom.nanoseconds(milliseconds: 100...3_000))
            }
        }
        service.moods[app] = mood
        return app
    }

    private func restart(_ worker: SimulatedWorker<Machine>, wrongApp: Int?) {
        kill(worker)
        service.wrongApps[worker.number] = wrongApp
        schedule(.workerStarts(worker: worker.number), after: faultRandom.nanoseconds(milliseconds: 100...1_000))
    }

    private func changeDevice() {
        let device = faultRandom.below(world.devices.count)
        let milliseconds = trueMilliseconds
        switch faultRandom.below(10) {
        case 0..<4: world.remove(device, atNanoseconds: now, milliseconds: milliseconds)
        case 4..<7:
            world.renewToken(
                device, atNanoseconds: now, milliseconds: milliseconds, joined: registry.fanOuts.newest)
        case 7..<9:
            world.register(
                device, atNanoseconds: now, milliseconds: milliseconds, joined: registry.fanOuts.newest)
        default:
            // Users whose subscription has fired once subscribe again.
            for index in world.subscriptions.indices where world.subscriptions[index].firedFor != nil {
                world.subscriptions[index].firedFor = nil
                world.subscriptions[index].renewedNanoseconds = now
                registry.subscriptionLog.append(world.subscriptions[index].row)
            }
        }
    }

    // MARK: Ends

    private func end(_ fault: SimulatedFault, _ target: Int) {
        switch fault {
        case .missing:
            if target > options.workQueueCount, target < broker.queues.count {
                broker.setThere(true, queue: target)
            }
        case .leader:
            guard target <= options.workQueueCount else { return }
            broker.setElecting(false, queue: target)
            // Delivered messages may be delivered again.
            loseConsumer(workers[faultRandom.below(workers.count)])
            pumpAll()
        case .blocked: broker.isBlocked = false
        case .registryDown: registry.failure = nil
        case .registryReadOnly: registry.writeFailure = nil
        case .registryFailover: registryIsLosing = false
        case .pause: registry.pausedApps.remove(target)
        case .pauseAll: registry.pausedApps.removeAll()
        case .outage: for app in 0..<World.appCount { _ = setMood(.well, app) }
        case .slow, .silent, .key, .errors, .throttled, .unreachable:
            if target < World.appCount { _ = setMood(.well, target) }
        case .environment:
            guard target < workers.count, service.wrongApps[target] != nil else { return }
            restart(workers[target], wrongApp: nil)
        case .answers: service.faultsPerMillion = 0
        case .credentials: service.refusesSome = false
        // Oversize events stay oversize.
        case .oversize: break
        case .kill, .drain, .consumer, .publisher, .confirms, .nack, .twice, .registrySlow, .clock, .devices: break
        }
    }

    // MARK: Invariants

    /// For how long an event of an app that is served well may be with the broker, while nothing disturbs all, and no
    /// message waits before it.
    static var patienceNanoseconds: UInt64 { 20_000_000_000 }
    /// How many messages a worker works off in a second at least, in the long run.
    static var messagesPerSecondLeast: UInt64 { 200 }

    func lookAtInvariants() {
        schedule(.invariantsAreLookedAt, after: 1_000_000_000)
        while let event = healthyEvents.first?.number, books.events[event].hasEnded || books.events[event].hasWaited {
            _ = healthyEvents.popFirst()
        }
        if isDisturbed || broker.isBlocked || workers.contains(where: { $0.machine == nil || !$0.isConnected }) {
            quietBegins()
        }
        guard let (event, ahead) = healthyEvents.first else { return }
        let published = books.events[event].publishedNanoseconds
        let since = max(published, quietNanoseconds)
        guard now > since else { return }
        report.longestWaitSeconds = max(report.longestWaitSeconds, Double(now - since) / 1_000_000_000)
        // The load may exceed the capacity of few workers; the backlog is worked off first.
        let backlog = UInt64(published < quietNanoseconds ? max(ahead, quietBacklog) : ahead)
        let workOffSeconds = backlog / (Self.messagesPerSecondLeast * UInt64(options.workerCount))
        var patience = Self.patienceNanoseconds + workOffSeconds * 1_000_000_000
        // A large fan-out gives way to all others.
        if books.events[event].expected.count > setup.limits.fanOutThresholdDevices { patience *= 6 }
        guard now - since > patience else { return }
        books.report(
            .noAppStarves,
            "Event \(event) (\(books.events[event].subject)) waits for \((now - since) / 1_000_000_000) s, and its app"
                + " is served well.")
    }
}
