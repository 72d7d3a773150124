import EventLoop
import LoadGenerator
import PushCore
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
    /// How many pushes must still come, except for changes of datasets that a newer one has made up for.
    var missingCount: Int { state.withLock { $0.book.shortfall().missing } }

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
