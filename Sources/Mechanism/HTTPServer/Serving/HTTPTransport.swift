import Crypto
import Glibc

/// The socket of one connection, with TLS or without.
///
/// It owns the socket, and closes it with `close`.
struct HTTPTransport {
    private let socket: Int32
    private let session: TLSSession?
    private var isHandshakeDone: Bool

    /// Takes an accepted socket.
    init(socket: Int32, tls: TLSContext?) throws(CryptoError) {
        self.socket = socket
        do throws(CryptoError) {
            session = try tls.map { context throws(CryptoError) in try TLSSession(server: context, socket: socket) }
        } catch {
            Glibc.close(socket)
            throw error
        }
        isHandshakeDone = session == nil
    }

    /// Whether bytes wait that no readiness of the socket will announce.
    var hasPendingInput: Bool { isHandshakeDone && session?.hasPendingInput ?? false }

    /// Takes bytes, once TLS is agreed on.
    ///
    /// - Parameter buffer: where to.
    /// - Returns: the number of bytes read, or why none; a failed connection counts as closed.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSSession.Transfer {
        guard let session else { return plain(recv(socket, buffer.baseAddress, buffer.count, 0), .wantsRead) }
        do throws(CryptoError) {
            if !isHandshakeDone {
                switch try session.handshake() {
                case .done: isHandshakeDone = true
                case .wantsRead: return .wantsRead
                case .wantsWrite: return .wantsWrite
                }
            }
            return try session.read(into: buffer)
        } catch {
            return .closed
        }
    }

    /// Sends bytes.
    ///
    /// - Parameter bytes: not empty.
    /// - Returns: the number of bytes taken, or why none; a failed connection counts as closed.
    mutating func write(_ bytes: UnsafeRawBufferPointer) -> TLSSession.Transfer {
        guard let session else {
            return plain(send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)), .wantsWrite)
        }
        do throws(CryptoError) {
            return try session.write(bytes)
        } catch {
            return .closed
        }
    }

    /// Tells the client that nothing more comes.
    func endOutput() {
        session?.closeNotify()
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Closes the socket.
    func close() { Glibc.close(socket) }

    /// The result of a system call.
    private func plain(_ count: Int, _ wanted: TLSSession.Transfer) -> TLSSession.Transfer {
        guard count <= 0 else { return .bytes(count) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? wanted : .closed
    }
}
