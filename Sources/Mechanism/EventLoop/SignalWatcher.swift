import CLinux
import Glibc

/// Turns signals into calls on an event loop; one for each process.
///
/// The kernel's handler only writes a byte to a pipe, and the loop reads it. So a signal never interrupts other work,
/// on whatever thread it arrives.
public final class SignalWatcher {
    private let loop: EventLoop
    private let registration: EventLoop.Registration

    /// Begins to watch; must be called on the loop, and not twice in a process at the same time.
    ///
    /// - Parameters:
    ///   - signals: for example `SIGTERM` and `SIGINT`; their default action no longer happens.
    ///   - loop: where the handler runs.
    ///   - handler: gets the number of each signal.
    /// - Throws: `EventLoopError` if the kernel refuses a signal or the pipe.
    public init(signals: [Int32], loop: EventLoop, handler: @escaping (Int32) -> Void) throws(EventLoopError) {
        loop.preconditionOnLoop()
        self.loop = loop
        let descriptor = signals.withUnsafeBufferPointer { clinux_signal_pipe($0.baseAddress, Int32($0.count)) }
        guard descriptor >= 0 else { throw EventLoopError(call: "sigaction", code: errno) }
        registration = try loop.register(descriptor, for: .readable) { _ in
            var number: UInt8 = 0
            while read(descriptor, &number, 1) == 1 { handler(Int32(number)) }
        }
    }

    /// Ends the watch; must be called on the loop.
    ///
    /// The signals stay without effect.
    public func stop() { loop.deregister(registration) }
}
