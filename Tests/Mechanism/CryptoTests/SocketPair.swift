import Glibc

/// Two connected non-blocking sockets in one process.
final class SocketPair {
    let first: Int32
    let second: Int32
    private var isSecondOpen = true

    init() throws {
        var descriptors: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &descriptors) == 0 else { throw POSIXFailure(code: errno) }
        (first, second) = (descriptors[0], descriptors[1])
        // In a process without an event loop a write to a closed peer would end it.
        signal(SIGPIPE, SIG_IGN)
    }

    deinit {
        close(first)
        closeSecond()
    }

    /// Ends the second socket, at once for the first one.
    func closeSecond() {
        if isSecondOpen {
            // A program that another test is just starting may have an end of it for a moment.
            shutdown(second, Int32(SHUT_RDWR))
            close(second)
        }
        isSecondOpen = false
    }

    struct POSIXFailure: Error {
        let code: Int32
    }
}
