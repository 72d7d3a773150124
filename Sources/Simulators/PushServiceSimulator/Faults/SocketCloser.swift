import EventLoop
import Glibc
import HTTP2

/// Closes a socket by the system call, whose name is also that of many methods.
enum SocketCloser {
    static func close(_ socket: Int32) { _ = Glibc.close(socket) }
}
