/// The batches of events that have no outcome yet, as a value: at most so many events are with the connection, the
/// others wait for room, in order.
///
/// An event of an abandoned batch keeps its room until it has its outcome, because the connection still has it. So no
/// more than the maximum is ever in memory that no caller waits for.
struct PublishWindow {
    /// An event that the connection is to publish.
    struct Outgoing: Equatable {
        let identifier: UInt64
        let event: Event
    }

    private struct Batch {
        let events: [Event]
        var results: [PublishResult?]
        var openCount: Int
        /// How many of its events the connection has got.
        var sentCount = 0
    }

    private struct InFlight {
        let batch: Int
        let index: Int
    }

    /// How many events may be with the connection.
    let roomMaximum: Int
    private var batches: [Int: Batch] = [:]
    private var inFlight: [UInt64: InFlight] = [:]
    /// The batches that have events which wait for room, in order.
    private var waiting: [Int] = []
    private var lastBatch = 0
    private var lastIdentifier: UInt64 = 0
    private var isUnbounded = false

    /// Creates an empty window.
    init(roomMaximum: Int) { self.roomMaximum = roomMaximum }

    /// How many events are with the connection.
    var sentCount: Int { inFlight.count }

    /// Takes a batch.
    ///
    /// - Returns: its number.
    mutating func add(_ events: [Event]) -> Int {
        lastBatch += 1
        batches[lastBatch] = Batch(
            events: events, results: Array(repeating: nil, count: events.count), openCount: events.count)
        if !events.isEmpty { waiting.append(lastBatch) }
        return lastBatch
    }

    /// Takes the events for which there is room, in order.
    mutating func takeOutgoing() -> [Outgoing] {
        var outgoing: [Outgoing] = []
        while let number = waiting.first, isUnbounded || inFlight.count < roomMaximum {
            guard var batch = batches[number], batch.sentCount < batch.events.count else {
                waiting.removeFirst()
                continue
            }
            lastIdentifier += 1
            inFlight[lastIdentifier] = InFlight(batch: number, index: batch.sentCount)
            outgoing.append(Outgoing(identifier: lastIdentifier, event: batch.events[batch.sentCount]))
            batch.sentCount += 1
            batches[number] = batch
        }
        return outgoing
    }

    /// Takes the result of an event.
    ///
    /// - Returns: the number of its batch; nil if the batch was abandoned.
    mutating func ended(_ identifier: UInt64, _ result: PublishResult) -> Int? {
        guard let sent = inFlight.removeValue(forKey: identifier), batches[sent.batch] != nil else { return nil }
        batches[sent.batch]?.results[sent.index] = result
        batches[sent.batch]?.openCount -= 1
        return sent.batch
    }

    /// Takes the results of a batch out, if all are there.
    mutating func takeResults(of number: Int) -> [PublishResult]? {
        guard let batch = batches[number], batch.openCount == 0 else { return nil }
        batches[number] = nil
        return batch.results.compactMap(\.self)
    }

    /// Takes a batch out; events without a result end with an error.
    ///
    /// - Returns: its results; nil if it is not there any more.
    mutating func abandon(_ number: Int, because error: PublisherError) -> [PublishResult]? {
        guard let batch = batches.removeValue(forKey: number) else { return nil }
        return batch.results.map { $0 ?? .failed(error) }
    }

    /// Lets every event go to the connection from now on: it is told to end when it has all outcomes.
    mutating func removeBound() { isUnbounded = true }

    /// The batches that have not been taken out.
    var openBatches: [Int] { batches.keys.sorted() }
}
