import DispatchCore
import PostgreSQL
import RegistryCore

/// The part of a batch that one kind of statement answers: its probes that still wait to be asked.
///
/// Each statement takes its probes as arrays and answers rows in the order of the probes: the request, the element, the
/// device's row, then the recipient.
struct AudienceStatement {
    /// How many elements of one request, and of all, one statement takes: a page is filled step by step, so that a
    /// long list costs bounded memory.
    private static let elementsOfRequestMaximum = 256
    private static let probesMaximum = 4_096

    /// The statement for some probes.
    let call: ([Probe]) -> Call
    /// Makes a recipient for a probe without a row; nil for none.
    let makeUp: (Probe) -> Recipient?
    /// Whether a row counts.
    let isMember: (Probe, Rows, Int) -> Bool
    /// Whether the device of a row subscribed to a dataset by its name.
    let isOfKnownDataset: (Rows, Int) -> Bool
    /// Where a page goes on after a row.
    let position: (Probe, Int64) -> Int64
    private var waiting: [Probe] = []
    private var start = 0
    /// The probes of the statement that is being asked.
    private(set) var asked: [Probe] = []

    /// Creates a statement without probes.
    init(
        call: @escaping ([Probe]) -> Call, makeUp: @escaping (Probe) -> Recipient? = { _ in nil },
        isMember: @escaping (Probe, Rows, Int) -> Bool = { _, _, _ in true },
        isOfKnownDataset: @escaping (Rows, Int) -> Bool = { _, _ in false },
        position: @escaping (Probe, Int64) -> Int64
    ) {
        self.call = call
        self.makeUp = makeUp
        self.isMember = isMember
        self.isOfKnownDataset = isOfKnownDataset
        self.position = position
    }

    /// Adds a probe behind the others; those of one request follow each other in the order of its list.
    mutating func add(_ probe: Probe) { waiting.append(probe) }

    /// The next statement, or nil if all has been asked.
    ///
    /// - Parameter isComplete: tells whether the page of a request has all it may have.
    /// - Returns: the statement, whose probes are `asked`.
    mutating func next(unless isComplete: (Int) -> Bool) -> Call? {
        asked.removeAll(keepingCapacity: true)
        var left: [Probe] = []
        var countOfRequest = 0
        var request = -1
        while start < waiting.count, asked.count < Self.probesMaximum {
            let probe = waiting[start]
            start += 1
            if probe.request != request {
                request = probe.request
                countOfRequest = 0
            }
            if isComplete(request) { continue }
            if countOfRequest < Self.elementsOfRequestMaximum {
                asked.append(probe)
                countOfRequest += 1
            } else {
                left.append(probe)
            }
        }
        waiting = left + waiting[start...]
        start = 0
        return asked.isEmpty ? nil : call(asked)
    }
}

/// One row of a question to the database: a request, or one element of a request's list.
struct Probe {
    /// The request, by its index in the batch.
    var request: Int
    /// The index in the request's own list, or 0.
    var element: Int
    /// The row to go on after, or 0.
    var after: Int64
}
