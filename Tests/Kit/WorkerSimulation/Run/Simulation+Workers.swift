import ChangeEvents
import Essentials
import Notifications

/// The life of workers: they start, process their input, and end.
extension Simulation {
    func start(_ seat: Seat<Machine>) {
        guard seat.machine == nil else { return }
        seat.clear()
        let machine = Machine(setup, planner: Int64(seat.worker + 1) << 32 + Int64(seat.generation))
        seat.readResponder = Machine.makeResponder(setup, registry: registry)
        seat.writeResponder = Machine.makeResponder(setup, registry: registry)
        seat.wallOffsetMilliseconds = Int64(loopRandom.within(-40...40))
        seat.machine = machine
        schedule(
            .publisherConnects(worker: seat.worker, generation: seat.generation),
            after: loopRandom.nanoseconds(milliseconds: 1...20))
        for app in 0..<World.appCount {
            schedule(
                .routesChange(worker: seat.worker, generation: seat.generation, app: app),
                after: loopRandom.nanoseconds(milliseconds: 5...60))
        }
        tickAndPerform(seat)
    }

    // MARK: Looking

    /// The worker processes its input, a moment later.
    func scheduleLook(_ seat: Seat<Machine>) {
        guard !seat.isLookScheduled, seat.machine != nil else { return }
        seat.isLookScheduled = true
        schedule(
            .workerLooks(worker: seat.worker, generation: seat.generation),
            after: loopRandom.nanoseconds(microseconds: 20...1_500))
    }

    func look(_ seat: Seat<Machine>) {
        seat.isLookScheduled = false
        guard seat.machine != nil else { return }
        let moment = moment(seat)
        if !seat.outcomes.isEmpty {
            let outcomes = seat.outcomes
            seat.outcomes.removeAll(keepingCapacity: true)
            seat.machine?.publishesEnded(outcomes, at: moment)
        }
        if !seat.answers.isEmpty {
            let answers = seat.answers
            seat.answers.removeAll(keepingCapacity: true)
            for (number, result) in answers { seat.machine?.registryAnswered(number, result, at: moment) }
        }
        if !seat.routes.isEmpty {
            seat.machine?.routesChanged(seat.routes, at: moment)
            seat.routes = []
        }
        if !seat.results.isEmpty {
            let results = seat.results
            seat.results.removeAll(keepingCapacity: true)
            seat.machine?.pushesEnded(results, at: moment)
        }
        if !seat.deliveries.isEmpty {
            let deliveries = seat.deliveries
            seat.deliveries = []
            seat.machine?.deliveriesReceived(deliveries, at: moment)
        }
        seat.fruitlessTicks = 0
        tickAndPerform(seat)
    }

    func tick(_ seat: Seat<Machine>, _ due: UInt64) {
        guard seat.tickNanoseconds == due, seat.machine != nil else { return }
        seat.tickNanoseconds = nil
        tickAndPerform(seat)
    }

    func tickAndPerform(_ seat: Seat<Machine>) {
        seat.machine?.tick(at: moment(seat))
        perform(seat)
        guard let machine = seat.machine else { return }
        if machine.mayConsume, !seat.isConnected, !seat.isConnecting, !seat.isDraining {
            connectConsumer(seat, after: loopRandom.nanoseconds(milliseconds: 1...30))
        }
        if seat.isDraining, machine.isDrained {
            schedule(
                .workerIsStopped(worker: seat.worker, generation: seat.generation),
                after: loopRandom.nanoseconds(milliseconds: 1...50))
        }
        scheduleTick(seat, machine.nextTick)
    }

    private func scheduleTick(_ seat: Seat<Machine>, _ next: MonotonicTime?) {
        guard let next else {
            seat.tickNanoseconds = nil
            return
        }
        var due = next.nanoseconds
        if due <= now {
            seat.fruitlessTicks += 1
            if seat.fruitlessTicks > 1_000 {
                books.report(
                    .bounds, "Worker \(seat.worker) asks to be ticked again and again, without anything that happens.")
            }
            due = now + 50_000
        }
        guard seat.tickNanoseconds != due else { return }
        seat.tickNanoseconds = due
        events.schedule(
            .workerTicks(worker: seat.worker, generation: seat.generation, nanoseconds: due), atNanoseconds: due)
    }

    // MARK: Doing

    private func perform(_ seat: Seat<Machine>) {
        guard let actions = seat.machine?.takeActions() else { return }
        if !actions.sends.isEmpty { send(seat, actions.sends) }
        if !actions.publishes.isEmpty { publish(seat, actions.publishes) }
        for (number, request) in actions.requests { ask(seat, number, request) }
        if !actions.rejections.isEmpty { reject(seat, actions.rejections) }
        if !actions.settles.isEmpty { settle(seat, actions.settles) }
        if let isPaused = actions.pausesConsumption { pauseConsumption(seat, isPaused) }
    }

    // MARK: Ending

    /// A process dies: its memory is gone, and its connections are closed.
    func kill(_ seat: Seat<Machine>) {
        guard seat.machine != nil else { return }
        digest.mix(0xDEAD)
        abandonPublishes(seat)
        for number in sent.numbers {
            guard let push = sent[number], push.worker == seat.worker, push.generation == seat.generation else {
                continue
            }
            // Pushes that were still inside the process were never written.
            if faultRandom.below(4) == 0 { sent[number]?.isTaken = false }
            if let index = push.index { books.pushAnswered(push.event, index) }
        }
        closeChannel(seat)
        seat.clear()
    }

    /// A worker is asked to end.
    func drain(_ seat: Seat<Machine>) {
        guard seat.machine != nil, !seat.isDraining else { return }
        seat.isDraining = true
        look(seat)
        seat.machine?.sourceStateChanged(.cancelled, at: moment(seat))
        seat.machine?.drain(at: moment(seat))
        tickAndPerform(seat)
        schedule(
            .workerIsStopped(worker: seat.worker, generation: seat.generation), after: 30_000_000_000)
    }

    /// A worker that has drained, or took too long to do so, closes its connections.
    func stop(_ seat: Seat<Machine>) {
        guard seat.machine != nil, seat.isDraining else { return }
        writeLastAcknowledgements(seat)
        kill(seat)
        schedule(
            .workerStarts(worker: seat.worker), after: faultRandom.nanoseconds(milliseconds: 100...5_000))
    }
}
