import CRabbitMQ
import EventLoop
import Synchronization

/// Ends a connection on which a call into librabbitmq stands still, from another thread.
///
/// `amqp_basic_publish` and the other senders block without limit when the peer takes no bytes, and version 0.11 even
/// ignores its own heartbeat then. Shutting the socket down makes the blocked call return with an error; nothing else
/// does.
final class StallGuard: Sendable {
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
        try StallWatch.shared().add(self)
    }

    /// Forgets the socket; must come before it is closed, lest another file that gets its number is shut down.
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
