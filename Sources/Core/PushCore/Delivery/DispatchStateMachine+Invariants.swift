/// What must hold between any two calls.
extension DispatchStateMachine {
    /// The numbers of pushes and copies, counted from the tables.
    private struct Tally {
        var pushesOfJob: [UInt64: Int] = [:]
        var copiesOfJob: [UInt64: Int] = [:]
        /// By lane and app.
        var pushesOut: [[Int]]
        var devicesWaiting = [0, 0]
        var deliveriesOfApp: [Int]
        /// Pushes that were matched and have not ended, over all apps.
        var pushesInFlight = 0
    }

    /// Counts what is in hand, and compares it with the counts that the machine keeps.
    ///
    /// It looks at all jobs, pushes and copies once, so it is for tests, simulations and debug builds.
    ///
    /// - Returns: what does not hold, each as a sentence; empty if all is well.
    public func checkInvariants() -> [String] {
        var broken: [String] = []
        var tally = Tally(
            pushesOut: lanes.map { $0.pushesOutByFlow.map { _ in 0 } },
            deliveriesOfApp: health.deliveriesInHandByApp.map { _ in 0 })
        countPushes(&tally, &broken)
        countCopies(&tally, &broken)
        jobs.forEach { number, job in countJob(number, job, &tally, &broken) }
        checkLanes(tally, &broken)
        checkBooks(tally, &broken)
        return broken
    }

    private func countPushes(_ tally: inout Tally, _ broken: inout [String]) {
        pushes.forEach { number, push in
            guard push.job != Push.givenUp else {
                tally.pushesOut[Self.place(of: .work)][push.app] += 1
                return
            }
            guard let job = jobs[push.job] else { return broken.append("push \(number) belongs to no job") }
            tally.pushesOfJob[push.job, default: 0] += 1
            tally.pushesOut[Self.place(of: job.work.lane)][push.app] += 1
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
        tally.devicesWaiting[Self.place(of: job.work.lane)] += rest
        tally.pushesInFlight += rest + job.pushesOut
        if !job.work.devices.isEmpty { tally.pushesInFlight += job.failures.reduce(0) { $0 + $1.deviceIDs.count } }
        if let app = job.loadedApp { tally.deliveriesOfApp[app] += job.work.tags.count }
    }

    private func checkLanes(_ tally: Tally, _ broken: inout [String]) {
        for (place, lane) in lanes.enumerated() {
            if lane.pushesOutByFlow != tally.pushesOut[place] {
                broken.append("lane \(place) counts \(lane.pushesOutByFlow) pushes, not \(tally.pushesOut[place])")
            }
            if lane.pushesOut != lane.pushesOutByFlow.reduce(0, +) {
                broken.append("lane \(place) counts \(lane.pushesOut) pushes, which is not the sum of its apps")
            }
            if lane.devicesWaiting != tally.devicesWaiting[place] {
                broken.append("lane \(place) counts \(lane.devicesWaiting) devices, not \(tally.devicesWaiting[place])")
            }
            if lane.devicesWaiting != lane.devicesWaitingByFlow.reduce(0, +) {
                broken.append("lane \(place) counts \(lane.devicesWaiting) devices, which is not the sum of its apps")
            }
            if (lane.pushesOutByFlow + lane.devicesWaitingByFlow).contains(where: { $0 < 0 }) {
                broken.append("a count of lane \(place) is negative")
            }
            if lane.queue.isEmpty != (lane.devicesWaiting == 0) {
                broken.append("the queue of lane \(place) does not hold what waits")
            }
        }
    }

    private func checkBooks(_ tally: Tally, _ broken: inout [String]) {
        for (app, ledger) in ledgers.enumerated() where !ledger.isBalanced || ledger.inFlight < 0 {
            broken.append("the ledger of app \(app) is out of balance: \(ledger)")
        }
        let inFlight = ledgers.reduce(0) { $0 + $1.inFlight }
        if inFlight != tally.pushesInFlight {
            broken.append("\(inFlight) pushes are in flight by the ledgers, and \(tally.pushesInFlight) in hand")
        }
        let deliveries = health.deliveriesInHandByApp
        if deliveries != tally.deliveriesOfApp {
            broken.append("\(deliveries) deliveries are in hand by app, not \(tally.deliveriesOfApp)")
        }
        if health.deliveriesInHand != tally.deliveriesOfApp.reduce(0, +) {
            broken.append("\(health.deliveriesInHand) deliveries are in hand, not \(tally.deliveriesOfApp)")
        }
    }
}
