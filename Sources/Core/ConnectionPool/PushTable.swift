/// The pushes of one pool that have not ended, each in exactly one of two lists: waiting or in flight.
///
/// Each list is chained through the records themselves, so a push moves from one to the other, or ends, in constant
/// time and without memory. Both are kept in order of the time from which their deadline counts, so that the first
/// is always the next to be due.
struct PushTable: Sendable {
    struct Record: Sendable {
        var sequence: UInt64 = 0
        var arrivedNanoseconds: UInt64 = 0
        var submittedNanoseconds: UInt64 = 0
        var connection = 0
        var stream: Int32 = 0
        /// How many bytes of the flow-control window its body needs.
        var bodyBytes: Int32 = 0
        var previous: Int32 = PushTable.none
        var next: Int32 = PushTable.none
        var state = State.free
        var resends: UInt8 = 0
    }

    enum State: UInt8, Sendable {
        /// The slot is free.
        ///
        /// Can transition to: `waiting` when a push arrives.
        case free
        /// The push waits for a stream.
        ///
        /// Can transition to: `inFlight` when it is submitted; `free` when it ends (its deadline passed, or the pool
        /// closes).
        case waiting
        /// The push travels on a stream.
        ///
        /// Can transition to: `waiting` when it was certainly not processed and may be resent; `free` when it ends.
        case inFlight
    }

    private struct List: Sendable {
        var first = PushTable.none
        var last = PushTable.none
        var count = 0

        mutating func insert(_ slot: Int, after previous: Int32, in records: inout [Record]) {
            let next = previous == PushTable.none ? first : records[Int(previous)].next
            records[slot].previous = previous
            records[slot].next = next
            if previous == PushTable.none { first = Int32(slot) } else { records[Int(previous)].next = Int32(slot) }
            if next == PushTable.none { last = Int32(slot) } else { records[Int(next)].previous = Int32(slot) }
            count += 1
        }

        mutating func remove(_ slot: Int, in records: inout [Record]) {
            let (previous, next) = (records[slot].previous, records[slot].next)
            if previous == PushTable.none { first = next } else { records[Int(previous)].next = next }
            if next == PushTable.none { last = previous } else { records[Int(next)].previous = previous }
            count -= 1
        }
    }

    static let none: Int32 = -1

    private(set) var records: [Record] = []
    private var freeSlots: [Int32] = []
    private var waiting = List()
    private var inFlight = List()
    private var nextSequence: UInt64 = 0

    var waitingCount: Int { waiting.count }
    var inFlightCount: Int { inFlight.count }
    /// The oldest push that waits.
    var firstWaiting: Int? { waiting.first == Self.none ? nil : Int(waiting.first) }
    /// The push in flight that was submitted first.
    var firstInFlight: Int? { inFlight.first == Self.none ? nil : Int(inFlight.first) }

    /// Adds a new push, the youngest of the waiting ones.
    mutating func arrive(bodyBytes: Int, nowNanoseconds: UInt64) -> Int {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = Int(free)
        } else {
            slot = records.count
            records.append(Record())
        }
        records[slot].sequence = nextSequence
        records[slot].arrivedNanoseconds = nowNanoseconds
        records[slot].bodyBytes = Int32(clamping: bodyBytes)
        records[slot].resends = 0
        nextSequence += 1
        records[slot].state = .waiting
        waiting.insert(slot, after: waiting.last, in: &records)
        return slot
    }

    /// A push that waits has been submitted.
    mutating func submit(_ slot: Int, connection: Int, stream: Int32, nowNanoseconds: UInt64) {
        precondition(records[slot].state == .waiting, "only a push that waits can be submitted")
        waiting.remove(slot, in: &records)
        records[slot].connection = connection
        records[slot].stream = stream
        records[slot].submittedNanoseconds = nowNanoseconds
        records[slot].state = .inFlight
        inFlight.insert(slot, after: inFlight.last, in: &records)
    }

    /// A push in flight waits again, in the order of age.
    ///
    /// A returned push is older than nearly all waiting ones, so its place is searched from the front; return several
    /// youngest first.
    ///
    /// - Parameters:
    ///   - slot: the push.
    ///   - isCounted: whether it counts among the resends, which are limited.
    mutating func giveBack(_ slot: Int, isCounted: Bool) {
        precondition(records[slot].state == .inFlight, "only a push in flight can be given back")
        inFlight.remove(slot, in: &records)
        if isCounted { records[slot].resends += 1 }
        var before = Self.none
        var after = waiting.first
        while after != Self.none, records[Int(after)].sequence < records[slot].sequence {
            before = after
            after = records[Int(after)].next
        }
        records[slot].state = .waiting
        waiting.insert(slot, after: before, in: &records)
    }

    /// A push that waits was refused by the connection that it was submitted on; it waits on.
    ///
    /// - Returns: how often it has failed to go out by now.
    mutating func countFailedSubmission(_ slot: Int) -> Int {
        precondition(records[slot].state == .waiting, "only a push that waits can be submitted")
        records[slot].resends += 1
        return Int(records[slot].resends)
    }

    /// A push ended; its slot is free for another.
    mutating func end(_ slot: Int) {
        switch records[slot].state {
        case .waiting: waiting.remove(slot, in: &records)
        case .inFlight: inFlight.remove(slot, in: &records)
        case .free: preconditionFailure("a push ends once")
        }
        records[slot].state = .free
        freeSlots.append(Int32(slot))
    }
}
