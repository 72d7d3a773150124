import EventLoop
import Glibc
import Synchronization

/// Waits for the signals that end a long-running command: the first asks it to end in order, the second ends it at
/// once.
///
/// A hang-up, if a handler is set for it, asks to read again what may have changed.
final class StopSignal: Sendable {
    private struct State {
        var isReceived = false
        var waiter: CheckedContinuation<Void, Never>?
        var hangUpHandler: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let loop: EventLoop

    /// Creates the loop that reads the signals; `watch` begins.
    init() throws(EventLoopError) { loop = try EventLoop(name: "signals") }

    /// Begins to watch SIGTERM and SIGINT, and SIGHUP, which without a handler has no effect from now on.
    ///
    /// - Parameter exitCode: with which the second signal ends the process.
    /// - Throws: `EventLoopError` if the kernel refuses the handler.
    func watch(exitCodeOfSecond exitCode: ExitCode) async throws {
        let watcher = try await loop.run { [self] in
            let watcher = try SignalWatcher(signals: [SIGTERM, SIGINT, SIGHUP], loop: loop) { signal in
                if signal == SIGHUP { self.hungUp() } else { self.received(exitCode) }
            }
            return LoopBound(watcher, to: loop)
        }
        // The watcher serves until the process ends.
        _ = watcher
    }

    /// Calls a handler for each SIGHUP, on the thread of the signals.
    func onHangUp(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.hangUpHandler = handler } }

    private func hungUp() { state.withLock { $0.hangUpHandler }?() }

    private func received(_ exitCode: ExitCode) {
        let (isSecond, waiter) = state.withLock { state in
            defer {
                state.isReceived = true
                state.waiter = nil
            }
            return (state.isReceived, state.waiter)
        }
        // Not `exit`: its handlers could wait for the very threads that hang.
        if isSecond { _exit(exitCode.rawValue) }
        waiter?.resume()
    }

    /// Waits for the first signal.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isReceived = state.withLock { state in
                if !state.isReceived { state.waiter = continuation }
                return state.isReceived
            }
            if isReceived { continuation.resume() }
        }
    }
}
