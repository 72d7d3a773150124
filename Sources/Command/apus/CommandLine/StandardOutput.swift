import Essentials
import Glibc
import Synchronization

/// Standard output with a buffer of its own; any thread may write, whole strings at a time.
///
/// Whatever is written is made printable here (`String.printable`), because much of it comes from outside: a terminal
/// must not be steered by the name of a device or the body of an event.
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

    /// Whether nobody reads any more (a closed pipe, a full disk): a long listing had better end.
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
    /// - Returns: what went wrong with any write since the start, or nil. A reader that went away, as `head` does, is
    ///   nothing wrong.
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
