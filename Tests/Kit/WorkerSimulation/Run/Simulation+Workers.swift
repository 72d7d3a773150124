import ChangeEvents
import Essentials
import Notifications

/// The life of workers: they start, process their input, and end.
extension Simulation {
    func start(_ worker: SimulatedWorker<Machine>) {
        guard worker.machine == nil else { return }
        worker.clear()
        let machine = Machine(setup, planner: Int64(worker.number + 1) << 32 + Int64(worker.generation))
        worker.readResponder = Machine.makeResponder(setup, registry: registry)
        worker.writeResponder = Machine.makeResponder(setup, registry: registry)
        worker.wallOffsetMilliseconds = Int64(loopRandom.within(-40...40))
        worker.machine = machine
        schedule(
            .publisherConnects(worker: worker.number, generation: worker.generation),
            after: loopRandom.nanoseconds(milliseconds: 1...20))
        for app in 0..<World.appCount {
            schedule(
                .routesChange(worker: worker.number, generation: worker.generation, app: app),
                after: loopRandom.nanoseconds(milliseconds: 5...60))
        }
        tickAndPerform(worker)
    }

    // MARK: Looking

    /// The worker processes its input, a moment later.
    func scheduleLook(_ worker: SimulatedWorker<Machine>) {
        guard !worker.isLookScheduled, worker.machine != nil else { return }
        worker.isLookScheduled = true
        schedule(
            .workerLooks(worker: worker.number, generation: worker.generation),
            after: loopRandom.nanoseconds(microseconds: 20...1_500))
    }

    func look(_ worker: SimulatedWorker<Machine>) {
        worker.isLookScheduled = false
        guard worker.machine != nil else { return }
        let moment = moment(worker)
        if !worker.outcomes.isEmpty {
            let outcomes = worker.outcomes
            worker.outcomes.removeAll(keepingCapacity: true)
            worker.machine?.publishesEnded(outcomes, at: moment)
        }
        if !worker.answers.isEmpty {
            let answers = worker.answers
            worker.answers.removeAll(keepingCapacity: true)
            for (number, result) in answers { worker.machine?.registryAnswered(number, result, at: moment) }
        }
        if !worker.routes.isEmpty {
            worker.machine?.routesChanged(worker.routes, at: moment)
            worker.routes = []
        }
        if !worker.results.isEmpty {
            let results = worker.results
            worker.results.removeAll(keepingCapacity: true)
            worker.machine?.pushesEnded(results, at: moment)
        }
        if !worker.deliveries.isEmpty {
            let deliveries = worker.deliveries
            worker.deliveries = []
            worker.machine?.deliveriesReceived(deliveries, at: moment)
        }
        worker.fruitlessTicks = 0
        tickAndPerform(worker)
    }

    func tick(_ worker: SimulatedWorker<Machine>, _ due: UInt64) {
        guard worker.tickNanoseconds == due, worker.machine != nil else { return }
        worker.tickNanoseconds = nil
        tickAndPerform(worker)
    }

    func tickAndPerform(_ worker: SimulatedWorker<Machine>) {
        worker.machine?.tick(at: moment(worker))
        perform(worker)
        guard let machine = worker.machine else { return }
        if machine.mayConsume, !worker.isConnected, !worker.isConnecting, !worker.isDraining {
            connectConsumer(worker, after: loopRandom.nanoseconds(milliseconds: 1...30))
        }
        if worker.isDraining, machine.isDrained {
            schedule(
                .workerIsStopped(worker: worker.number, generation: worker.generation),
                after: loopRandom.nanoseconds(milliseconds: 1...50))
        }
        scheduleTick(worker, machine.nextTick)
    }

    private func scheduleTick(_ worker: SimulatedWorker<Machine>, _ next: MonotonicTime?) {
        guard let next else {
            worker.tickNanoseconds = nil
            return
        }
        var due = next.nanoseconds
        if due <= now {
            worker.fruitlessTicks += 1
            if worker.fruitlessTicks > 1_000 {
                books.report(
                    .bounds, "Worker \(worker.number) asks to be ticked again and again, without anything that happens."
                )
            }
            due = now + 50_000
        }
        guard worker.tickNanoseconds != due else { return }
        worker.tickNanoseconds = due
        events.schedule(
            .workerTicks(worker: worker.number, generation: worker.generation, nanoseconds: due), atNanoseconds: due)
    }

    // MARK: Doing

    private func perform(_ worker: SimulatedWorker<Machine>) {
        guard let actions = worker.machine?.takeActions() else { return }
        if !actions.sends.isEmpty { send(worker, actions.sends) }
        if !actions.publishes.isEmpty { publish(worker, actions.publishes) }
        for (number, request) in actions.requests { ask(worker, number, request) }
        if !actions.rejections.isEmpty { reject(worker, actions.rejections) }
        if !actions.settles.isEmpty { settle(worker, actions.settles) }
        if let isPaused = actions.pausesConsumption { pauseConsumption(worker, isPaused) }
    }

    // MARK: Ending

    /// A process dies: its memory is gone, and its connections are closed.
    func kill(_ worker: SimulatedWorker<Machine>) {
        guard worker.machine != nil else { return }
        digest.mix(0xDEAD)
        abandonPublishes(worker)
        for number in sent.numbers {
            guard let push = sent[number], push.worker == worker.number, push.generation == worker.generation else {
                continue
            }
            // Pushes that were still inside the process were never written.
            if faultRandom.below(4) == 0 { sent[number]?.isTaken = false }
            if let index = push.index { books.pushAnswered(push.event, index) }
        }
        closeChannel(worker)
        worker.clear()
    }

    /// A worker is asked to end.
    func drain(_ worker: SimulatedWorker<Machine>) {
        guard worker.machine != nil, !worker.isDraining else { return }
        worker.isDraining = true
        look(worker)
        worker.machine?.sourceStateChanged(.cancelled, at: moment(worker))
        worker.machine?.drain(at: moment(worker))
        tickAndPerform(worker)
        schedule(
            .workerIsStopped(worker: worker.number, generation: worker.generation), after: 30_000_000_000)
    }

    /// A worker that has drained, or took too long to do so, closes its connections.
    func stop(_ worker: SimulatedWorker<Machine>) {
        guard worker.machine != nil, worker.isDraining else { return }
        writeLastAcknowledgements(worker)
        kill(worker)
        schedule(
            .workerStarts(worker: worker.number), after: faultRandom.nanoseconds(milliseconds: 100...5_000))
    }
}
