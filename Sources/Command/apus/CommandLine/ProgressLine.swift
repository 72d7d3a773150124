import EventLoop
import Synchronization

/// A line on standard error that shows how far a long command has come.
///
/// On a terminal the line replaces itself, ten times a second at most. Elsewhere (a log, a pipe) it is an ordinary line
/// every ten seconds, so that a job's log shows life without being flooded. Any thread may update it.
final class ProgressLine: Sendable {
    private struct State {
        var lastNanoseconds: UInt64 = 0
        var isShown = false
    }

    private let state = Mutex(State(lastNanoseconds: MonotonicClock.nowNanoseconds()))
    private let isTerminal: Bool
    private let intervalNanoseconds: UInt64

    /// Creates a line, which does not show before its first update.
    init() {
        isTerminal = StandardError.isTerminal
        intervalNanoseconds = isTerminal ? 100_000_000 : 10_000_000_000
    }

    /// Shows the text if it is time to; it is computed only then.
    func update(_ text: @autoclosure () -> String) {
        let now = MonotonicClock.nowNanoseconds()
        let isDue = state.withLock { state in
            guard now - state.lastNanoseconds >= intervalNanoseconds else { return false }
            state.lastNanoseconds = now
            state.isShown = true
            return true
        }
        guard isDue else { return }
        if isTerminal { StandardError.replaceLine(text()) } else { StandardError.line(text()) }
    }

    /// Removes the line, and writes a last one in its place if there is something to say.
    func finish(_ text: String? = nil) {
        let isShown = state.withLock { $0.isShown }
        if isTerminal, isShown { StandardError.replaceLine("") }
        if let text { StandardError.line(text) }
    }
}
