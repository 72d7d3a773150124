/// What waits to be sent of one lane, by app, and how much of it is out.
///
/// The window is shared by a dynamic threshold: an app may have three times as many pushes out as are free, so one app
/// alone gets three quarters of the window, two get three sevenths each, and something is always free for the next one
/// that comes. An app whose pushes are not answered therefore stops itself, and nobody else.
///
/// Source: Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches" (1998).
struct DispatchLane: Sendable {
    /// How many pushes an app may send before the next one's turn comes.
    static let pushesPerTurn = 64
    /// How many times the free places an app may hold.
    private static let thresholdFactor = 3
    /// The part of the window that an app may hold in any case.
    private static let leastShareDivisor = 16

    var queue: FairQueue<UInt64>
    private(set) var devicesWaiting = 0
    private(set) var devicesWaitingByFlow: [Int]
    private(set) var pushesOut = 0
    private(set) var pushesOutByFlow: [Int]
    /// Whether there is more than one app to share with.
    let isShared: Bool

    /// Creates an empty lane.
    ///
    /// - Parameter appCount: how many apps are configured; one more flow is for devices of unknown apps.
    init(appCount: Int) {
        queue = FairQueue(flowCount: appCount + 1, quantum: Self.pushesPerTurn)
        devicesWaitingByFlow = Array(repeating: 0, count: appCount + 1)
        pushesOutByFlow = Array(repeating: 0, count: appCount + 1)
        isShared = appCount > 1
    }

    /// How many more pushes of an app may go out.
    func room(flow: Int, window: Int) -> Int {
        let free = window - pushesOut
        guard isShared else { return free }
        let share = max(window / Self.leastShareDivisor, Self.thresholdFactor * free)
        return min(free, share - pushesOutByFlow[flow])
    }

    mutating func waits(_ job: UInt64, devices: Int, flow: Int) {
        queue.append(job, flow: flow)
        devicesWaiting += devices
        devicesWaitingByFlow[flow] += devices
    }

    /// Devices of the job whose turn it is do not wait any more.
    mutating func served(devices: Int, flow: Int, isFinished: Bool) {
        queue.served(units: devices, isFinished: isFinished)
        devicesWaiting -= devices
        devicesWaitingByFlow[flow] -= devices
        assert(devicesWaiting >= 0 && devicesWaitingByFlow[flow] >= 0, "more devices were served than waited")
    }

    /// The rest of a job that has left its flow waits for the turn of another app.
    mutating func moved(_ job: UInt64, devices: Int, from flow: Int, to other: Int) {
        queue.append(job, flow: other)
        devicesWaitingByFlow[flow] -= devices
        devicesWaitingByFlow[other] += devices
        assert(devicesWaitingByFlow[flow] >= 0, "more devices left the flow than waited in it")
    }

    mutating func pushWentOut(app: Int) {
        pushesOut += 1
        pushesOutByFlow[app] += 1
    }

    mutating func pushEnded(app: Int) {
        pushesOut -= 1
        pushesOutByFlow[app] -= 1
        assert(pushesOutByFlow[app] >= 0, "a push of the app ended, and none was out")
    }
}
