import Glibc

/// A system call that the event loop or a socket depends on failed.
public struct EventLoopError: Error, CustomStringConvertible, Sendable {
    /// The name of the system call, for example `epoll_create1`.
    public let call: String
    /// The value of `errno`; for `getaddrinfo` its own code.
    public let code: Int32
    /// The subject of the call, for example an address; may be empty.
    public let subject: String

    /// Creates an error.
    public init(call: String, code: Int32, subject: String = "") {
        self.call = call
        self.code = code
        self.subject = subject
    }

    /// The failure that the system has just reported in `errno`.
    init(call: String, subject: String = "") { self.init(call: call, code: errno, subject: subject) }

    /// Whether an error of the system passes without anybody's doing: memory, descriptors and devices come back.
    ///
    /// - Parameter code: the value of `errno`.
    /// - Returns: whether the same call may succeed later; not for a file that is not there, or may not be read.
    public static func isTransient(_ code: Int32) -> Bool {
        switch code {
        case EAGAIN, EBUSY, EHOSTDOWN, EHOSTUNREACH, EINTR, EIO, EMFILE, ENETDOWN, ENETUNREACH, ENFILE, ENOBUFS, ENOMEM,
            ENOTCONN, ESTALE, ETIMEDOUT, EREMOTEIO:
            true
        default: false
        }
    }

    /// One line with the call, its subject and the system's own text.
    public var description: String {
        let reason = call == "getaddrinfo" ? String(cString: gai_strerror(code)) : String(cString: strerror(code))
        return subject.isEmpty ? "\(call) failed: \(reason)" : "\(call) failed for \(subject): \(reason)"
    }
}
