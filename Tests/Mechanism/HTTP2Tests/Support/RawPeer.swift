import Crypto
import EventLoop
import Glibc

/// A peer that says what it is told to instead of HTTP/2, over TLS or in the clear, and throws away what it hears.
///
/// It lives on a loop; the registration keeps it alive until the connection is over.
final class RawPeer {
    private let loop: EventLoop
    private let descriptor: Int32
    private var tls: TLSSession?
    private var isHandshakeDone = false
    private var unwritten: [UInt8]
    private let closesWhenWritten: Bool
    private let closed: () -> Void
    private var registration: EventLoop.Registration?

    // Owns the descriptor; without TLS it speaks in the clear; `closed` runs once, when the connection is over.
    init(
        loop: EventLoop, descriptor: Int32, tls: TLSSession?, bytes: [UInt8], closesWhenWritten: Bool,
        closed: @escaping () -> Void = {}
    ) throws {
        self.loop = loop
        self.descriptor = descriptor
        self.tls = tls
        self.closesWhenWritten = closesWhenWritten
        self.closed = closed
        unwritten = bytes
        registration = try loop.register(descriptor, for: [.readable, .writable]) { [self] _ in advance() }
    }

    private func advance() {
        do {
            if let tls, !isHandshakeDone {
                guard try tls.handshake() == .done else { return loop.modify(try active(), for: .readable) }
                isHandshakeDone = true
            }
            try writeAll()
            try discardInput()
            loop.modify(try active(), for: .readable)
        } catch {
            close()
        }
    }

    private func active() throws -> EventLoop.Registration {
        guard let registration else { throw TestFailure("closed") }
        return registration
    }

    private func writeAll() throws {
        while !unwritten.isEmpty {
            let count: Int
            if let tls {
                guard case .bytes(let taken) = try unwritten.withUnsafeBytes({ try tls.write($0) }) else { return }
                count = taken
            } else {
                count = write(descriptor, unwritten, unwritten.count)
                guard count > 0 else { throw TestFailure("write failed") }
            }
            unwritten.removeFirst(count)
        }
        if closesWhenWritten { throw TestFailure("all is written") }
    }

    private func discardInput() throws {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            guard let tls else {
                guard read(descriptor, &buffer, buffer.count) != 0 else {
                    throw TestFailure("closed by the other side")
                }
                return
            }
            switch try buffer.withUnsafeMutableBytes({ try tls.read(into: $0) }) {
            case .bytes: continue
            case .closed: throw TestFailure("closed by the other side")
            case .wantsRead, .wantsWrite: return
            }
        }
    }

    /// Says something and resets the connection, so that what the client writes from now on fails.
    func sayAndReset(_ bytes: [UInt8]) throws {
        unwritten += bytes
        try writeAll()
        var reset = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    private func close() {
        guard let registration else { return }
        loop.deregister(registration)
        self.registration = nil
        tls?.closeNotify()
        tls = nil
        Glibc.close(descriptor)
        closed()
    }
}
