/// The waiting pushes of one delivery class, by app, and the number in flight.
///
/// The window is shared by a dynamic threshold: an app may have three times as many pushes out as are free. So one app
/// alone gets three quarters of the window, two get three sevenths each, and the next app always finds free places. An
/// app whose pushes are not answered therefore stops only itself.
///
/// Source: Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches" (1998).
struct SendQueue: Sendable {
    /// How many pushes an app may send before the next app is served.
    static let pushesPerRound = 64
    /// How many times the free part of the window an app may fill.
    private static let thresholdFactor = 3
    /// The part of the window that an app may fill in any case.
    private static let leastShareDivisor = 16

    var queue: FairQueue<UInt64>
    private(set) var devicesWaiting = 0
    private(set) var devicesWaitingByFlow: [Int]
    private(set) var pushesOut = 0
    private(set) var pushesOutByFlow: [Int]
    /// Whether there is more than one app to share with.
    let isShared: Bool

    /// Creates an empty queue.
    ///
    /// - Parameter appCount: how many apps are configured; one more flow is for devices of unknown apps.
    init(appCount: Int) {
        queue = FairQueue(flowCount: appCount + 1, quantum: Self.pushesPerRound)
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

    /// Devices of the job at the head do not wait any more.
    mutating func served(devices: Int, flow: Int, isFinished: Bool) {
        queue.served(units: devices, isFinished: isFinished)
        devicesWaiting -= devices
        devicesWaitingByFlow[flow] -= devices
        assert(devicesWaiting >= 0 && devicesWaitingByFlow[flow] >= 0, "more devices were served than waited")
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

/// Elements that wait in flows, served in turns by deficit round robin: a busy flow delays the others by one turn, not
/// by all its elements.
///
/// A turn is an allowance of units (`quantum`). `served` says how many units an element took. A flow keeps the rest of
/// its allowance while it has elements, and loses it when it is empty: no flow saves up for a burst. Each step takes
/// constant time, independent of the number of flows.
///
/// Source: Shreedhar and Varghese, "Efficient Fair Queuing Using Deficit Round-Robin" (1996).
public struct FairQueue<Element: Sendable>: Sendable {
    /// The flow to serve.
    public struct Head {
        /// The flow.
        public let flow: Int
        /// Its first element.
        public let element: Element
        /// How many units it may take now; at least 1.
        public let allowance: Int
    }

    private struct Flow {
        var elements = FIFO<Element>()
        var allowance = 0
        /// The flow that is served after this one; -1 at the end of the ring.
        var next = -1
    }

    private let quantum: Int
    private var flows: [Flow]
    private var first = -1
    private var last = -1
    /// How many flows have something to do.
    public private(set) var activeFlowCount = 0

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - flowCount: how many flows there are.
    ///   - quantum: how many units a flow may take in a round; at least 1.
    public init(flowCount: Int, quantum: Int) {
        precondition(quantum > 0, "a turn without units would never end")
        self.quantum = quantum
        flows = Array(repeating: Flow(), count: flowCount)
    }

    /// Whether nothing waits.
    public var isEmpty: Bool { first < 0 }

    /// Whether nothing of a flow waits.
    public func isEmpty(flow: Int) -> Bool { flows[flow].elements.isEmpty }

    /// The next flow and its element; nil if nothing waits.
    public var head: Head? {
        guard first >= 0, let element = flows[first].elements.first else { return nil }
        return Head(flow: first, element: element, allowance: flows[first].allowance)
    }

    /// Puts an element at the end of a flow.
    public mutating func append(_ element: Element, flow: Int) {
        if flows[flow].elements.isEmpty { enterRing(flow) }
        flows[flow].elements.append(element)
    }

    /// The element at the head was served.
    ///
    /// - Parameters:
    ///   - units: how many units it took; at most the allowance.
    ///   - isFinished: whether it leaves the queue; else it stays the first of its flow.
    public mutating func served(units: Int, isFinished: Bool) {
        precondition(first >= 0, "nothing waits, so nothing can have been served")
        let flow = first
        assert(units <= flows[flow].allowance, "the turn was longer than its allowance")
        flows[flow].allowance -= units
        if isFinished { _ = flows[flow].elements.popFirst() }
        if flows[flow].elements.isEmpty {
            leaveRing()
        } else if flows[flow].allowance <= 0 {
            moveFirstToEnd()
        }
    }

    /// The flow at the head cannot be served now: the next one is, and this one loses its allowance.
    public mutating func pass() {
        precondition(first >= 0, "nothing waits, so no turn can be passed on")
        flows[first].allowance = 0
        moveFirstToEnd()
    }

    private mutating func moveFirstToEnd() {
        let flow = first
        leaveRing()
        enterRing(flow)
    }

    private mutating func enterRing(_ flow: Int) {
        flows[flow].allowance = quantum
        flows[flow].next = -1
        if last >= 0 { flows[last].next = flow } else { first = flow }
        last = flow
        activeFlowCount += 1
    }

    private mutating func leaveRing() {
        first = flows[first].next
        if first < 0 { last = -1 }
        activeFlowCount -= 1
    }
}

/// A queue in one array: appended at its end, taken from a moving front, compacted now and then.
struct FIFO<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var front = 0

    var isEmpty: Bool { front == elements.count }

    var first: Element? { isEmpty ? nil : elements[front] }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            front += 1
            if front == elements.count {
                elements.removeAll(keepingCapacity: true)
                front = 0
            } else if front > 1_024, front > elements.count / 2 {
                elements.removeFirst(front)
                front = 0
            }
        }
        return elements[front]
    }
}
