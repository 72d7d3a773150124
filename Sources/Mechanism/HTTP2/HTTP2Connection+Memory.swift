import Crypto
import EventLoop

// A connection without streams holds no buffers, so that many idle ones cost little.
extension HTTP2Connection {
    /// How long after its last use memory may be kept.
    ///
    /// A connection with a stream now and then gives its memory back once in this time at most, which costs less than
    /// one of its requests.
    private static let keptNanoseconds: UInt64 = 1_000_000_000

    /// Whether no stream is open and nothing waits to be written.
    private var isQuiet: Bool { streamCount == 0 && output.isEmpty && bodies.isEmpty }

    /// At the end of a tick: memory that is not needed at a later moment will be given back then.
    func releaseMemoryLater() {
        guard releaseTimer == nil, state == .running, isQuiet else { return }
        releaseTimer = loop.schedule(afterNanoseconds: Self.keptNanoseconds) { [self] in
            releaseTimer = nil
            // If it is not quiet, the end of a later tick asks again.
            if isQuiet { releaseMemory() }
        }
    }

    private func releaseMemory() {
        bodies = BodyTable()
        memory.releaseKept()
        tls?.releaseBuffers()
    }
}
