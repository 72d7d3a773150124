import ChangeEvents

/// The invariants between any two calls.
extension DispatchStateMachine {
    /// The numbers of pushes and copies, counted from the tables.
    private struct Tally {
        var pushesOfJob: [UInt64: Int] = [:]
        var copiesOfJob: [UInt64: Int] = [:]
        /// By delivery class and app.
        var pushesOut: [[Int]]
        /// The pushes that a push service answers, by app.
        var pushesAtServices: [Int]
        var devicesWaiting = [0, 0]
        var deliveriesOfApp: [Int]
        /// Pushes that were matched and have not ended, over all apps.
        var pushesInFlight = 0
    }

    /// Counts the deliveries and pushes, and compares them with the counts that the machine keeps.
    ///
    /// It takes time in proportion to all of them, so it is for tests, simulations and debug builds.
    ///
    /// - Returns: the violated invariants, each as a sentence; empty if all is well.
    public func checkInvariants() -> [String] {
        var broken: [String] = []
        var tally = Tally(
            pushesOut: sendQueues.map { $0.pushesOutByFlow.map { _ in 0 } },
            pushesAtServices: health.services.pushesOutByApp.map { _ in 0 },
            deliveriesOfApp: health.unsettledDeliveriesByApp.map { _ in 0 })
        countPushes(&tally, &broken)
        countCopies(&tally, &broken)
        var partsByGroup: [UInt64: Int] = [:]
        jobs.forEach { number, job in
            countJob(number, job, &tally, &broken)
            if let group = job.group { partsByGroup[group, default: 0] += 1 }
        }
        groups.forEach { number, group in
            if group.partsLeft != partsByGroup[number, default: 0] {
                broken.append("group \(number) waits for \(group.partsLeft) parts, and others are there")
            }
        }
        checkSendQueues(tally, &broken)
        checkBooks(tally, &broken)
        return broken
    }

    private func countPushes(_ tally: inout Tally, _ broken: inout [String]) {
        pushes.forEach { number, push in
            if push.asksService { tally.pushesAtServices[push.app] += 1 }
            guard push.job != Push.abandoned else {
                tally.pushesOut[Self.sendQueueIndex(of: .interactive)][push.app] += 1
                return
            }
            guard let job = jobs[push.job] else { return broken.append("push \(number) belongs to no job") }
            tally.pushesOfJob[push.job, default: 0] += 1
            tally.pushesOut[Self.sendQueueIndex(of: job.work.deliveryClass)][push.app] += 1
        }
    }

    private func countCopies(_ tally: inout Tally, _ broken: inout [String]) {
        publishes.forEach { number, publish in
            if case .chunk = publish.kind { return }
            if jobs[publish.job] == nil { broken.append("copy \(number) belongs to no job") }
            if publish.message.identifier != number { broken.append("copy \(number) has another number") }
            tally.copiesOfJob[publish.job, default: 0] += 1
            if case .failure(_, _, let pushes) = publish.kind { tally.pushesInFlight += pushes }
        }
    }

    private func countJob(_ number: UInt64, _ job: Job, _ tally: inout Tally, _ broken: inout [String]) {
        let rest = job.work.devices.count - job.nextDevice
        if rest < 0 { broken.append("job \(number) was sent to more devices than it has") }
        if job.pushesOut != tally.pushesOfJob[number, default: 0] {
            broken.append("job \(number) waits for \(job.pushesOut) pushes, and others are out")
        }
        if job.publishesOut != tally.copiesOfJob[number, default: 0] {
            broken.append("job \(number) waits for \(job.publishesOut) copies, and others are out")
        }
        if job.isSent, !job.failures.isEmpty { broken.append("job \(number) has ended, and failures are not requeued") }
        if job.isSent, job.publishesOut == 0 { broken.append("job \(number) has ended, and is not settled") }
        tally.devicesWaiting[Self.sendQueueIndex(of: job.work.deliveryClass)] += rest
        tally.pushesInFlight += rest + job.pushesOut
        if !job.work.devices.isEmpty {
            tally.pushesInFlight += job.failures.filter(\.areMatched).reduce(0) { $0 + $1.deviceIDs.count }
        }
        if let app = job.backlogApp { tally.deliveriesOfApp[app] += job.work.tags.count }
    }

    private func checkSendQueues(_ tally: Tally, _ broken: inout [String]) {
        for (index, sendQueue) in sendQueues.enumerated() {
            if sendQueue.pushesOutByFlow != tally.pushesOut[index] {
                broken.append(
                    "send queue \(index) counts \(sendQueue.pushesOutByFlow) pushes, not \(tally.pushesOut[index])")
            }
            if sendQueue.pushesOut != sendQueue.pushesOutByFlow.reduce(0, +) {
                broken.append(
                    "send queue \(index) counts \(sendQueue.pushesOut) pushes, which is not the sum of its apps")
            }
            if sendQueue.devicesWaiting != tally.devicesWaiting[index] {
                broken.append(
                    "send queue \(index) counts \(sendQueue.devicesWaiting) devices, not \(tally.devicesWaiting[index])"
                )
            }
            if sendQueue.devicesWaiting != sendQueue.devicesWaitingByFlow.reduce(0, +) {
                broken.append(
                    "send queue \(index) counts \(sendQueue.devicesWaiting) devices, which is not the sum of its apps")
            }
            if (sendQueue.pushesOutByFlow + sendQueue.devicesWaitingByFlow).contains(where: { $0 < 0 }) {
                broken.append("a count of send queue \(index) is negative")
            }
            if sendQueue.queue.isEmpty != (sendQueue.devicesWaiting == 0) {
                broken.append("send queue \(index) does not hold what waits")
            }
        }
    }

    private func checkBooks(_ tally: Tally, _ broken: inout [String]) {
        for (app, ledger) in pushCounts.enumerated() where !ledger.isBalanced || ledger.inFlight < 0 {
            broken.append("the ledger of app \(app) is out of balance: \(ledger)")
        }
        let inFlight = pushCounts.reduce(0) { $0 + $1.inFlight }
        if inFlight != tally.pushesInFlight {
            broken.append("\(inFlight) pushes are in flight by the counts, and \(tally.pushesInFlight) by the tables")
        }
        let pushesAtServices = health.services.pushesOutByApp
        if pushesAtServices != tally.pushesAtServices {
            broken.append("\(pushesAtServices) pushes are at the services, not \(tally.pushesAtServices)")
        }
        let deliveries = health.unsettledDeliveriesByApp
        if deliveries != tally.deliveriesOfApp {
            broken.append("\(deliveries) deliveries are unsettled by app, not \(tally.deliveriesOfApp)")
        }
        if health.unsettledDeliveries != tally.deliveriesOfApp.reduce(0, +) {
            broken.append("\(health.unsettledDeliveries) deliveries are unsettled, not \(tally.deliveriesOfApp)")
        }
    }
}
