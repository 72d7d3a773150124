import CRabbitMQ
import EventLoop
import Synchronization

/// Ends a connection on which a call into librabbitmq stands still, from another thread.
///
/// `amqp_basic_publish` and the other senders block without limit when the peer takes no bytes, and version 0.11 even
/// ignores its own heartbeat then. Only a shutdown of the socket makes the blocked call return, with an error.
final class SendWatchdog: Sendable {
    private struct Watched {
        var fileDescriptor: Int32 = -1
        /// When the call that runs now has run too long; nil while none runs.
        var deadlineNanoseconds: UInt64?
        var hasFired = false
    }

    private let watched = Mutex(Watched())
    private let limitNanoseconds: UInt64

    init(limitSeconds: Double) { limitNanoseconds = UInt64(max(0.001, limitSeconds) * 1_000_000_000) }

    /// Begins to watch a socket.
    func open(fileDescriptor: Int32) throws(EventLoopError) {
        watched.withLock { $0.fileDescriptor = fileDescriptor }
        try SendWatch.shared().add(self)
    }

    /// Forgets the socket; must come before the close, because another file may get its number.
    func close() { watched.withLock { $0.fileDescriptor = -1 } }

    /// A call that may block begins.
    func arm() {
        let deadline = MonotonicClock.nowNanoseconds() &+ limitNanoseconds
        watched.withLock { $0.deadlineNanoseconds = deadline }
    }

    /// The call has returned.
    func disarm() { watched.withLock { $0.deadlineNanoseconds = nil } }

    /// Whether the socket was shut down by this guard.
    var hasFired: Bool { watched.withLock { $0.hasFired } }

    /// Looks whether a call stands still; the answer is false when there is nothing to watch any more.
    func check(nowNanoseconds: UInt64) -> Bool {
        watched.withLock { watched in
            guard watched.fileDescriptor >= 0 else { return false }
            guard let deadline = watched.deadlineNanoseconds, nowNanoseconds > deadline else { return true }
            watched.hasFired = true
            shutdown(watched.fileDescriptor, Int32(SHUT_RDWR))
            return true
        }
    }
}

/// The thread that looks after all `SendWatchdog`s of the process; it rests while there is none.
final class SendWatch: Sendable {
    private static let intervalNanoseconds: UInt64 = 250_000_000
    private static let instance = Mutex<SendWatch?>(nil)

    private let loop: EventLoop
    private let guards = Mutex<[SendWatchdog]>([])

    private init() throws(EventLoopError) { loop = try EventLoop(name: "amqp-watch") }

    /// The one watchdog of the process, created on first use.
    static func shared() throws(EventLoopError) -> SendWatch {
        let result: Result<SendWatch, EventLoopError> = instance.withLock { instance in
            if let instance { return .success(instance) }
            do throws(EventLoopError) {
                let watch = try SendWatch()
                instance = watch
                return .success(watch)
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    func add(_ added: SendWatchdog) {
        let isFirst = guards.withLock { guards in
            guards.append(added)
            return guards.count == 1
        }
        if isFirst { loop.submit { self.scheduleCheck() } }
    }

    private func scheduleCheck() {
        loop.schedule(afterNanoseconds: Self.intervalNanoseconds) { [self] in
            let now = loop.nowNanoseconds
            let remain = guards.withLock { guards in
                guards.removeAll { !$0.check(nowNanoseconds: now) }
                return !guards.isEmpty
            }
            if remain { scheduleCheck() }
        }
    }
}
