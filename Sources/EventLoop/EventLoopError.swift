import Glibc

/// A system call that the event loop depends on failed.
public struct EventLoopError: Error, CustomStringConvertible, Sendable {
    /// The name of the system call, for example `epoll_create1`.
    public let call: String
    /// The value of `errno`.
    public let code: Int32

    init(call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    /// One line with the call and the system's own text.
    public var description: String { "\(call) failed: \(String(cString: strerror(code)))" }
}
