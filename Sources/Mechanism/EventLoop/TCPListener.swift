import Glibc

/// A listening socket on a loop, which hands every accepted connection to a closure.
public final class TCPListener {
    /// The most connections accepted in one tick; the rest wait for the next, so that other work goes on.
    private static let acceptsPerTickMaximum = 64
    /// The pause after the kernel refused a connection, usually because descriptors ran out, in nanoseconds.
    private static let refusalPauseNanoseconds: UInt64 = 100_000_000

    /// The port that it listens on.
    public let port: UInt16

    private let loop: EventLoop
    private let descriptor: Int32
    private let accepted: (Int32) -> Void
    private var registration: EventLoop.Registration?
    private var resumption: EventLoop.Timer?
    private var isClosed = false
    private var isPaused = false

    /// Binds and listens; must be called on the loop.
    ///
    /// - Parameters:
    ///   - host: the local address in numbers, or a name that needs no resolver.
    ///   - port: the TCP port; 0 lets the kernel choose a free one.
    ///   - loop: where connections are accepted.
    ///   - accepted: takes each non-blocking socket, and from then on owns it.
    /// - Throws: `EventLoopError` if the address cannot be bound.
    public convenience init(
        host: String, port: UInt16, loop: EventLoop, accepted: @escaping (Int32) -> Void
    ) throws(EventLoopError) {
        let (descriptor, port) = try TCPSocket.listen(host: host, port: port)
        try self.init(adopting: descriptor, port: port, loop: loop, accepted: accepted)
    }

    /// Takes over a socket that listens; must be called on the loop.
    ///
    /// - Parameters:
    ///   - descriptor: a socket of `TCPSocket.listen`, which belongs to the listener even if this fails.
    ///   - port: the port that it has.
    ///   - loop: where connections are accepted.
    ///   - accepted: takes each non-blocking socket, and from then on owns it.
    /// - Throws: `EventLoopError` if the kernel refuses to watch it.
    public init(
        adopting descriptor: Int32, port: UInt16, loop: EventLoop, accepted: @escaping (Int32) -> Void
    ) throws(EventLoopError) {
        loop.preconditionOnLoop()
        self.descriptor = descriptor
        self.port = port
        self.loop = loop
        self.accepted = accepted
        do throws(EventLoopError) {
            // The registration retains the listener, so it listens until it is closed.
            registration = try loop.register(descriptor, for: .readable) { [self] _ in acceptWaiting() }
        } catch {
            isClosed = true
            Glibc.close(descriptor)
            throw error
        }
    }

    deinit {
        if !isClosed { Glibc.close(descriptor) }
    }

    /// Stops listening; connections that were accepted already are not touched.
    public func close() {
        loop.preconditionOnLoop()
        guard !isClosed else { return }
        isClosed = true
        if let registration { loop.deregister(registration) }
        if let resumption { loop.cancel(resumption) }
        registration = nil
        resumption = nil
        Glibc.close(descriptor)
    }

    /// Another descriptor of the same socket, for a listener that takes over.
    ///
    /// Both accept connections until one is closed, and no connection is refused in between.
    ///
    /// - Returns: a descriptor that belongs to the caller.
    /// - Throws: `EventLoopError` if the listener is closed, or descriptors have run out.
    public func duplicate() throws(EventLoopError) -> Int32 {
        loop.preconditionOnLoop()
        guard !isClosed else { throw EventLoopError(call: "fcntl", code: EBADF) }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw EventLoopError(call: "fcntl") }
        return copy
    }

    /// Leaves connections in the kernel's queue until `resume`.
    public func pause() {
        loop.preconditionOnLoop()
        isPaused = true
        watch()
    }

    /// Accepts again.
    public func resume() {
        loop.preconditionOnLoop()
        isPaused = false
        watch()
    }

    private func watch() {
        guard let registration else { return }
        loop.modify(registration, for: isPaused || resumption != nil ? [] : .readable)
    }

    private func acceptWaiting() {
        for _ in 0..<Self.acceptsPerTickMaximum {
            guard !isClosed, !isPaused else { return }
            do throws(EventLoopError) {
                guard let connection = try TCPSocket.accept(descriptor) else { return }
                accepted(connection)
            } catch {
                return rest()
            }
        }
    }

    /// The connection still waits, so the socket stays readable: without a rest the loop would spin.
    private func rest() {
        guard registration != nil else { return }
        resumption = loop.schedule(afterNanoseconds: Self.refusalPauseNanoseconds) { [weak self] in
            guard let self, !isClosed else { return }
            resumption = nil
            watch()
        }
        watch()
    }
}
