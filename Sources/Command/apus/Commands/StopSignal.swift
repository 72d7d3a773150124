import EventLoop
import Glibc
import Synchronization

/// Waits for the signals that end a long-running command: the first asks it to end in order, the second ends it at
/// once.
///
/// A hang-up asks to read the configuration again.
final class StopSignal: Sendable {
    private struct State {
        var isReceived = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// The loop that reads the signals, and has time for other work that does not wait.
    let loop: EventLoop
    private let state = Mutex(State())
    /// Holds one hang-up at most: a reload that begins after several reads the newest configuration.
    private let hangUps = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Creates the loop; `watch` begins.
    init() throws(EventLoopError) { loop = try EventLoop(name: "signals") }

    /// Begins to watch SIGTERM, SIGINT and SIGHUP.
    ///
    /// - Parameter exitCode: with which the second signal ends the process.
    /// - Throws: `EventLoopError` if the kernel refuses the handler.
    func watch(exitCodeOfSecond exitCode: ExitCode) async throws {
        let watcher = try await loop.run { [self] in
            let watcher = try SignalWatcher(signals: [SIGTERM, SIGINT, SIGHUP], loop: loop) { signal in
                if signal == SIGHUP { self.hangUps.continuation.yield() } else { self.received(exitCode) }
            }
            return LoopBound(watcher, to: loop)
        }
        // The watcher serves until the process ends.
        _ = watcher
    }

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

    /// Waits for the first signal to end, and reloads after each SIGHUP meanwhile.
    ///
    /// - Parameter reload: runs once at a time; its task is cancelled, and waited for, when the wait ends.
    func wait(reload: @escaping @Sendable () async -> Void) async {
        let reloads = Task { [stream = hangUps.stream] in
            for await _ in stream { await reload() }
        }
        await wait()
        reloads.cancel()
        await reloads.value
    }

    /// Waits for the first signal to end; a hang-up has no effect.
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
