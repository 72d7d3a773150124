import ChangeEvents
import EventLoop
import LoadGenerator
import Synchronization

/// The books of the run that is under way, shared by the threads that write into them.
final class LoadBooks: Sendable, PublishHandler {
    private struct State {
        var book: LoadBook
        var reader: RecordReader
        var interruption: String?
    }

    private let state: Mutex<State>

    init(_ book: LoadBook, _ reader: RecordReader) { state = Mutex(State(book: book, reader: reader)) }

    /// A copy of the books.
    var book: LoadBook { state.withLock { $0.book } }
    var totals: LoadTotals { state.withLock { $0.book.totals } }
    var unconfirmedCount: Int { state.withLock { $0.book.unconfirmedCount } }
    /// Why publishing was interrupted last; nil if it never was.
    var interruption: String? { state.withLock { $0.interruption } }
    /// Whether every publish has its outcome, and nothing is missing.
    var isComplete: Bool { state.withLock { $0.book.isComplete } }

    func published(_ intended: [Int64]) {
        let now = WallClock.nowMicroseconds()
        state.withLock { state in
            for microseconds in intended {
                state.book.published(intendedMicroseconds: microseconds, atMicroseconds: now)
            }
        }
    }

    /// Takes bytes of the push server's record.
    func record(_ bytes: [UInt8]) {
        state.withLock { state in
            for push in state.reader.take(bytes) { state.book.pushed(push) }
        }
    }

    func sample(_ queue: LoadSample.Queue?) -> LoadSample {
        state.withLock { $0.book.sample(atMicroseconds: WallClock.nowMicroseconds(), queue: queue) }
    }

    // MARK: PublishHandler

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        let now = WallClock.nowMicroseconds()
        state.withLock { state in
            for (identifier, outcome) in outcomes {
                let event = Int(clamping: identifier)
                switch outcome {
                case .confirmed: state.book.confirmed(event, atMicroseconds: now)
                case .returned: state.book.failed(event, isReturned: true)
                case .refused, .rejected: state.book.failed(event, isReturned: false)
                }
            }
        }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        if !isReady { state.withLock { $0.interruption = reason } }
    }
}
