import Essentials
import EventLoop
import Glibc
import Synchronization

/// Standard output with a buffer of its own; any thread may write, whole strings at a time.
///
/// All output is made printable here (`String.printable`), because much of it comes from outside. A device's name or an
/// event's body must not control the terminal.
final class StandardOutput: Sendable {
    private struct State {
        var buffer: [UInt8] = []
        var errorCode: Int32 = 0
    }

    private static let bufferBytesMaximum = 64 * 1024

    private let state = Mutex(State())
    private let descriptor: Int32

    /// Whether a person is looking at it.
    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Creates a writer; the descriptor stays the caller's.
    init(descriptor: Int32 = STDOUT_FILENO) { self.descriptor = descriptor }

    /// Whether the output can no longer be written (a closed pipe, a full disk), so that a long listing can end.
    var isBroken: Bool { state.withLock { $0.errorCode != 0 } }

    /// Writes text of any number of lines.
    func write(_ text: String) { append(text.printable(keepsLayout: true)) }

    /// Writes text of several lines, and a new line.
    func lines(_ text: String) { write(text + "\n") }

    /// Writes one line, of text or of JSON; its fields may be separated by tabs.
    func line(_ text: String) {
        append(
            text.split(separator: "\t", omittingEmptySubsequences: false).map { String($0).printable() }
                .joined(separator: "\t") + "\n")
    }

    /// Writes one line of JSON.
    func line(_ json: [UInt8]) { line(String(decoding: json, as: UTF8.self)) }

    private func append(_ text: String) {
        state.withLock { state in
            state.buffer.append(contentsOf: text.utf8)
            if state.buffer.count >= Self.bufferBytesMaximum { writeOut(&state) }
        }
    }

    /// Makes everything that was written visible.
    func flush() { state.withLock { writeOut(&$0) } }

    /// Flushes for the last time.
    ///
    /// - Returns: the failure of any write since the start, or nil. A reader that went away, as `head` does, is nothing
    ///   wrong.
    func finish() -> String? {
        flush()
        let code = state.withLock { $0.errorCode }
        return code == 0 || code == EPIPE ? nil : String(cString: strerror(code))
    }

    private func writeOut(_ state: inout State) {
        var offset = 0
        while offset < state.buffer.count, state.errorCode == 0 {
            let written = state.buffer.withUnsafeBytes { bytes in
                Glibc.write(descriptor, bytes.baseAddress?.advanced(by: offset), bytes.count - offset)
            }
            if written >= 0 { offset += written } else if errno != EINTR { state.errorCode = errno }
        }
        state.buffer.removeAll(keepingCapacity: true)
    }
}

/// Standard error: for people, unbuffered, made printable here as standard output is.
enum StandardError {
    /// Whether a person is looking at it.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes one line, or some; there is nowhere to report a failure.
    static func line(_ text: String) { write(text.printable(keepsLayout: true) + "\n") }

    /// Removes the line that the cursor of the terminal is in, and writes another one without ending it.
    ///
    /// "Erase the line" rather than blanks, because the width of the terminal is not known.
    static func replaceLine(_ text: String) { write("\r\u{1B}[K" + text.printable()) }

    /// Writes lines in place of the last ones of the terminal.
    ///
    /// - Parameters:
    ///   - count: how many lines to replace; those of the last call, 0 for the first.
    ///   - lines: the new ones.
    static func replaceLines(_ count: Int, with lines: [String]) {
        let up = count > 0 ? "\u{1B}[\(count)A" : ""
        write(up + lines.map { "\r\u{1B}[K" + $0.printable() + "\n" }.joined())
    }

    /// Writes text unchanged, in one system call where the system allows it.
    private static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0, errno != EINTR { return }
            rest = rest.dropFirst(max(0, written))
        }
    }
}

/// A line on standard error that shows how far a long command has come.
///
/// On a terminal the line replaces itself, ten times a second at most. Elsewhere (a log, a pipe) it is an ordinary line
/// every ten seconds, which shows progress without flooding a log. Any thread may update it.
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
