/// Decides which acknowledgements to send for deliveries that end in any order.
///
/// The broker numbers the deliveries of a channel from 1 without gaps. One acknowledgement of many deliveries is far
/// cheaper than many of one, but it may only reach up to the first unfinished delivery, the frontier. So deliveries
/// that end at the frontier are acknowledged together, in batches. A delivery that ends beyond it waits a little for
/// the frontier and is then acknowledged alone, so that one slow push does not delay the whole window.
///
/// An *urgent* delivery is acknowledged alone as soon as it ends: its queue hands out so few that the worker would wait
/// for the next one.
///
/// RabbitMQ closes the channel when a multiple acknowledgement names a delivery that is acknowledged already; so it
/// names the last delivery that was not acknowledged alone.
///
/// A pure state machine: time is passed in, in nanoseconds of any monotonic clock.
public struct AcknowledgementFrontier: Sendable {
    /// One acknowledgement to send.
    public struct Acknowledgement: Hashable, Sendable {
        /// The broker's number of the delivery.
        public let number: UInt64
        /// Whether all unacknowledged deliveries before it are meant too.
        public let isMultiple: Bool

        /// Creates an acknowledgement.
        public init(number: UInt64, isMultiple: Bool) {
            self.number = number
            self.isMultiple = isMultiple
        }
    }

    private enum Slot: UInt8 {
        case underWay
        case underWayUrgently
        case settled
        case acknowledged

        var isUnderWay: Bool { self == .underWay || self == .underWayUrgently }
    }

    private struct Straggler {
        var number: UInt64
        var settledNanoseconds: UInt64
    }

    private let batchSize: Int
    private let batchDelayNanoseconds: UInt64
    private let stragglerDelayNanoseconds: UInt64

    /// The slots of the numbers from `frontier` to `delivered`, each at its number modulo the size, a power of two.
    private var slots: [Slot]
    /// The first number that is still under way, or the next to be delivered.
    private var frontier: UInt64 = 1
    /// The last number that was delivered.
    private var delivered: UInt64 = 0
    /// The number that the next acknowledgement of many names: the last before the frontier that needs one.
    private var pendingNumber: UInt64 = 0
    private var pendingCount = 0
    private var pendingSinceNanoseconds: UInt64 = 0
    /// The deliveries that ended beyond the frontier, in that order; the frontier has since passed some of them.
    private var stragglers: [Straggler] = []
    private var stragglersHead = 0
    /// The urgent deliveries that ended and are to be acknowledged.
    private var urgent: [UInt64] = []

    /// The number of unacknowledged deliveries, including ended ones.
    public private(set) var unacknowledgedCount = 0

    /// Creates the state for a new channel.
    ///
    /// - Parameters:
    ///   - batchSize: how many deliveries at the frontier are acknowledged together without delay, at least 1.
    ///   - batchDelayNanoseconds: how long fewer than that may wait.
    ///   - stragglerDelayNanoseconds: the time that a delivery beyond the frontier waits for it.
    public init(
        batchSize: Int, batchDelayNanoseconds: UInt64 = 5_000_000, stragglerDelayNanoseconds: UInt64 = 50_000_000
    ) {
        precondition(batchSize >= 1, "a batch has at least one delivery")
        self.batchSize = batchSize
        self.batchDelayNanoseconds = batchDelayNanoseconds
        self.stragglerDelayNanoseconds = stragglerDelayNanoseconds
        slots = [Slot](repeating: .acknowledged, count: 64)
    }

    /// A delivery arrived; numbers that were left out count as acknowledged.
    ///
    /// - Parameters:
    ///   - number: the broker's number.
    ///   - isUrgent: whether it is to be acknowledged as soon as it ends.
    public mutating func received(_ number: UInt64, isUrgent: Bool = false) {
        guard number > delivered else { return }
        while number - frontier >= UInt64(slots.count) { grow() }
        while delivered + 1 < number {
            delivered += 1
            slots[index(delivered)] = .acknowledged
        }
        delivered = number
        slots[index(number)] = isUrgent ? .underWayUrgently : .underWay
        unacknowledgedCount += 1
        if frontier < number, slots[index(frontier)] == .acknowledged { advance(nowNanoseconds: 0) }
    }

    /// The work of a delivery has ended; a number that is unknown or has ended before is ignored.
    ///
    /// - Parameters:
    ///   - number: the broker's number.
    ///   - nowNanoseconds: the time now.
    public mutating func settled(_ number: UInt64, nowNanoseconds: UInt64) {
        guard number >= frontier, number <= delivered, slots[index(number)].isUnderWay else { return }
        let isUrgent = slots[index(number)] == .underWayUrgently
        slots[index(number)] = isUrgent ? .acknowledged : .settled
        if isUrgent { urgent.append(number) }
        guard number == frontier else {
            if isUrgent { return }
            stragglers.append(Straggler(number: number, settledNanoseconds: nowNanoseconds))
            return
        }
        advance(nowNanoseconds: nowNanoseconds)
    }

    /// A delivery that is under way is to be rejected, so no acknowledgement may name it any more.
    ///
    /// The rejection has to be written before the next acknowledgement of many, which reaches beyond the delivery.
    ///
    /// - Parameters:
    ///   - number: the broker's number.
    ///   - nowNanoseconds: the time now.
    /// - Returns: whether to reject it; not if the number is unknown or has ended before.
    public mutating func rejected(_ number: UInt64, nowNanoseconds: UInt64) -> Bool {
        guard number >= frontier, number <= delivered, slots[index(number)].isUnderWay else { return false }
        slots[index(number)] = .acknowledged
        unacknowledgedCount -= 1
        if number == frontier { advance(nowNanoseconds: nowNanoseconds) }
        return true
    }

    /// Hands out the acknowledgements that are due.
    ///
    /// - Parameters:
    ///   - nowNanoseconds: the time now.
    ///   - isFinal: hand out everything that has ended, due or not, because the connection closes.
    ///   - acknowledgements: the acknowledgements to send are appended here, in order.
    public mutating func takeDue(
        nowNanoseconds: UInt64, isFinal: Bool = false, into acknowledgements: inout [Acknowledgement]
    ) {
        for number in urgent { acknowledgements.append(Acknowledgement(number: number, isMultiple: false)) }
        unacknowledgedCount -= urgent.count
        urgent.removeAll(keepingCapacity: true)
        let isBatchDue =
            pendingCount >= batchSize || isFinal
            || nowNanoseconds >= pendingSinceNanoseconds &+ batchDelayNanoseconds
        if pendingCount > 0, isBatchDue {
            acknowledgements.append(Acknowledgement(number: pendingNumber, isMultiple: true))
            unacknowledgedCount -= pendingCount
            pendingCount = 0
        }
        while let straggler = nextStraggler {
            let isDue = isFinal || nowNanoseconds >= straggler.settledNanoseconds &+ stragglerDelayNanoseconds
            guard isDue else { break }
            stragglersHead += 1
            slots[index(straggler.number)] = .acknowledged
            unacknowledgedCount -= 1
            acknowledgements.append(Acknowledgement(number: straggler.number, isMultiple: false))
        }
        compactStragglers()
    }

    /// When `takeDue` has something next, or nil if that depends on deliveries that are still under way.
    public var nextDueNanoseconds: UInt64? {
        mutating get {
            var due: UInt64? = urgent.isEmpty ? nil : 0
            if pendingCount > 0, due == nil {
                due = pendingCount >= batchSize ? 0 : pendingSinceNanoseconds &+ batchDelayNanoseconds
            }
            if let straggler = nextStraggler {
                due = min(due ?? .max, straggler.settledNanoseconds &+ stragglerDelayNanoseconds)
            }
            return due
        }
    }

    /// The first straggler that the frontier has not passed.
    private var nextStraggler: Straggler? {
        mutating get {
            while stragglersHead < stragglers.count, stragglers[stragglersHead].number < frontier {
                stragglersHead += 1
            }
            return stragglersHead < stragglers.count ? stragglers[stragglersHead] : nil
        }
    }

    private mutating func advance(nowNanoseconds: UInt64) {
        while frontier <= delivered {
            let slot = slots[index(frontier)]
            guard !slot.isUnderWay else { return }
            if slot == .settled {
                if pendingCount == 0 { pendingSinceNanoseconds = nowNanoseconds }
                pendingCount += 1
                pendingNumber = frontier
            }
            frontier += 1
        }
    }

    private mutating func grow() {
        var grown = [Slot](repeating: .acknowledged, count: 2 * slots.count)
        var number = frontier
        while number <= delivered {
            grown[Int(number & UInt64(grown.count - 1))] = slots[index(number)]
            number += 1
        }
        slots = grown
    }

    private mutating func compactStragglers() {
        if stragglersHead == stragglers.count {
            stragglers.removeAll(keepingCapacity: true)
            stragglersHead = 0
        } else if stragglersHead > 1_024, 2 * stragglersHead > stragglers.count {
            stragglers.removeFirst(stragglersHead)
            stragglersHead = 0
        }
    }

    private func index(_ number: UInt64) -> Int { Int(number & UInt64(slots.count - 1)) }
}
