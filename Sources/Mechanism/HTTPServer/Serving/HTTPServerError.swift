import EventLoop
import Glibc

/// A server cannot begin to serve.
public struct HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable {
        /// The host is not known or not an address of this machine.
        case hostUnknown
        /// Another program listens there.
        case addressInUse
        /// The certificate and its key do not serve.
        case certificateInvalid
        /// Anything else that the system reports.
        case failed
    }

    /// The kind of failure.
    public let code: Code
    /// What was wrong, where, and what to do.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What kept the server's socket from listening, and what to do about it.
    init(_ error: EventLoopError, _ configuration: HTTPServerConfiguration) {
        let (name, host, setting) = (configuration.name, configuration.host, configuration.settingName)
        guard error.call != "getaddrinfo" else {
            let reason = String(cString: gai_strerror(error.code))
            self.init(
                .hostUnknown,
                "\(name) cannot listen on \(host): \(reason); give an address of this machine as \(setting)")
            return
        }
        let place = host.contains(":") ? "[\(host)]:\(configuration.port)" : "\(host):\(configuration.port)"
        let reason = String(cString: strerror(error.code))
        let remedy =
            switch error.code {
            case EADDRINUSE: "stop the program that listens there, or give another port as \(setting) (0 for any)"
            case EADDRNOTAVAIL: "give an address of this machine as \(setting)"
            case EACCES: "give a port from 1024 up as \(setting)"
            case EMFILE, ENFILE: "allow more open files (ulimit -n, LimitNOFILE)"
            case ENOSPC: "raise fs.epoll.max_user_watches"
            default: "give another address as \(setting)"
            }
        self.init(
            error.code == EADDRINUSE ? .addressInUse : .failed,
            "\(name) cannot listen on \(place): \(reason); \(remedy)")
    }

    /// The message.
    public var description: String { message }
}
