import CMicroHTTPD
import Synchronization

/// One request from its first line to its last byte of answer.
///
/// The library's thread drives it; another thread only ever resumes it with the answer. The library holds one
/// reference, from the request line until it says that the request is completed.
final class HTTPExchange: Sendable {
    struct State {
        var fields: [HTTPField] = []
        var target: HTTPTarget?
        var body: [UInt8] = []
        var uploadedBytes = 0
        /// When the head had come, in seconds of the monotonic clock.
        var headSeconds = 0
        var isHeadRead = false
        var refusal: HTTPRefusal?
        /// The suspended connection, as a number: a pointer cannot be sent.
        var suspendedConnection: UInt?
        /// What was answered while the connection was suspended.
        var response: HTTPResponse?
    }

    /// The target as it was sent.
    let rawTarget: String
    let server: HTTPServer.Core
    let state = Mutex(State())

    init(rawTarget: String, server: HTTPServer.Core) {
        self.rawTarget = rawTarget
        self.server = server
    }

    /// Takes the connection out of the library's hands until `resume`.
    func suspend(_ connection: OpaquePointer) {
        state.withLock { state in
            MHD_suspend_connection(connection)
            state.suspendedConnection = UInt(bitPattern: connection)
        }
    }

    /// Whether the client has closed its side of the suspended connection, so that nobody would read an answer.
    var isAbandoned: Bool {
        state.withLock { state in
            // Within the lock: while it is suspended the library leaves the connection alone.
            guard let connection = state.suspendedConnection else { return true }
            return cmicrohttpd_is_abandoned(OpaquePointer(bitPattern: connection)) != 0
        }
    }

    /// Gives the connection back to the library's thread, which sends the answer; only the first call counts.
    ///
    /// - Parameter response: the answer, or nil if there is none.
    func resume(with response: HTTPResponse?) {
        state.withLock { state in
            guard let connection = state.suspendedConnection else { return }
            state.suspendedConnection = nil
            state.response = response ?? server.response(to: .unanswered, rawTarget: rawTarget)
            // Within the lock: once resumed, the connection may be gone at any moment.
            MHD_resume_connection(OpaquePointer(bitPattern: connection))
        }
        server.deferredEnded(self)
    }
}
