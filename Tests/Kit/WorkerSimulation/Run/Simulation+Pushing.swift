import DispatchCore
import Essentials
import Notifications

/// Pushes, and the answers of the push service.
extension Simulation {
    func send(_ worker: SimulatedWorker<Machine>, _ requests: [PushRequest]) {
        for request in requests {
            digest.mix(request.identifier)
            digest.mix(request.apnsID.low)
            guard let number = pushNumbers.number(of: request.content), books.events.indices.contains(number) else {
                books.report(
                    .pushAskedFor,
                    "Worker \(worker.number) pushes what no event says: "
                        + String(decoding: request.content.payload, as: UTF8.self))
                return
            }
            guard let (device, isPresent) = world.device(of: request.token) else {
                books.report(.pushAskedFor, "Worker \(worker.number) pushes to an unknown token.")
                return
            }
            digest.mix(device)
            let index = books.pushSent(number, device: device, subscription: subscription(request, number, device))
            let verdict = service.verdict(
                device: device, isPresent: isPresent, route: request.route, worker: worker.number,
                atMilliseconds: trueMilliseconds)
            let slot = sent.insert(
                SentPush(
                    worker: worker.number, generation: worker.generation, identifier: request.identifier, event: number,
                    index: index, device: device, outcome: verdict.outcome, isTaken: verdict.isTaken,
                    sentNanoseconds: now))
            if case .answered(let answer) = verdict.outcome, answer.status == 410 { comeBack(device) }
            checkOrder(worker, number, device)
            worker.pushesOut += 1
            tell(number, "is pushed to device \(device) by worker \(worker.number)")
            schedule(.pushEnds(slot), after: verdict.nanoseconds)
        }
        worker.pushesOutMaximum = max(worker.pushesOutMaximum, worker.pushesOut)
        // A window for each delivery class.
        if worker.pushesOut > 2 * setup.limits.pushesInFlightMaximum {
            books.report(.bounds, "Worker \(worker.number) has \(worker.pushesOut) pushes out.")
        }
    }

    /// An installation may come back while the push service says that it is gone.
    private func comeBack(_ device: Int) {
        guard options.faults.contains(.devices), faultRandom.below(4) == 0 else { return }
        world.register(
            device, atNanoseconds: now, milliseconds: trueMilliseconds, joined: registry.fanOuts.newest)
    }

    /// The subscription that a push is for: only the identifier of the push tells it.
    private func subscription(_ request: PushRequest, _ event: Int, _ device: Int) -> Int {
        guard case .record(let app, let room, _) = books.events[event].subject else { return 0 }
        let identity = PushIdentity(source: "load", identifier: "e\(event)")
        for index in world.subscriptions(app: app, room: room)
        where world.subscriptions[index].devices.contains(device) {
            let row = world.subscriptions[index].row
            if identity.apnsID(for: request.token, subscription: row) == request.apnsID { return Int(row) }
        }
        return 0
    }

    func pushEnds(_ slot: UInt32) {
        guard let push = sent.remove(slot) else { return }
        if push.isTaken, let index = push.index { books.pushAccepted(push.event, index) }
        let worker = workers[push.worker]
        tell(
            push.event,
            "has its push to device \(push.device) end: \(push.outcome)\(push.isTaken ? ", taken" : "")"
                + (worker.generation == push.generation ? "" : "; its worker is gone"))
        guard worker.generation == push.generation, worker.machine != nil else { return }
        worker.pushesOut -= 1
        if let index = push.index {
            books.pushAnswered(push.event, index)
            if case .answered(let answer) = push.outcome, answer.status == 410 || answer.status == 400 {
                books.end(push.event, index)
            }
        }
        if case .answered(let answer) = push.outcome, answer.status == 200 {
            noteTold(worker, push.event, push.device)
        }
        worker.results.append(
            AttemptResult(
                identifier: push.identifier, outcome: push.outcome, durationNanoseconds: now - push.sentNanoseconds))
        scheduleLook(worker)
    }

    /// Holds a worker to announce no older state of a dataset after a newer one that the device has accepted.
    ///
    /// After a minute an older count may belong to a dataset that was created again, so it is not checked then. Neither
    /// is it if clocks are set, or if deletions restart the counts.
    private func checkOrder(_ worker: SimulatedWorker<Machine>, _ event: Int, _ device: Int) {
        guard case .dataset(_, let dataset, _) = books.events[event].subject, !options.hasDeletions,
            !options.faults.contains(.clock),
            let newer = worker.told[device * World.datasetCount + dataset], newer > event
        else { return }
        let age = now - books.events[Int(newer)].publishedNanoseconds
        guard age < 50_000_000_000 else { return }
        books.report(
            .newestLast,
            "Worker \(worker.number) tells device \(device) of \(event), and knows that it has accepted \(newer).")
    }

    private func noteTold(_ worker: SimulatedWorker<Machine>, _ event: Int, _ device: Int) {
        guard case .dataset(_, let dataset, _) = books.events[event].subject else { return }
        let index = device * World.datasetCount + dataset
        worker.told[index] = max(worker.told[index] ?? -1, Int32(event))
    }

    /// A worker notices whether an app can be reached by now.
    func routesChange(_ worker: SimulatedWorker<Machine>, _ app: Int) {
        let isReachable = service.moods[app] != .unreachable
        for route in [2 * app, 2 * app + 1] {
            worker.routes.append(RouteChange(route: route, isReachable: isReachable))
        }
        scheduleLook(worker)
    }

    /// A worker has had a device removed.
    func devicePruned(_ device: Int) {
        books.counts.pruned += 1
        world.devices[device].changedNanoseconds = now
        if world.devices[device].isServed {
            books.report(.devicesStay, "Device \(device) was removed, and the push service serves it.")
        }
    }
}
