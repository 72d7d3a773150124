import Glibc
import PushTestKit

/// Requests that are under way at once, each on a connection of its own and none with a thread of its own.
final class OpenRequests {
    private static let waitMilliseconds: Int32 = 120_000

    private let port: UInt16
    private let token: String
    private var open: [Int32] = []
    /// The answers that have come, in their order.
    private(set) var answers: [PlainHTTP.Answer] = []

    init(_ port: UInt16, token: String) {
        self.port = port
        self.token = token
    }

    deinit { for descriptor in open { close(descriptor) } }

    /// How many have no answer yet.
    var openCount: Int { open.count }

    /// Sends a request.
    func send(_ method: String, _ path: String, _ body: String = "") {
        let descriptor = PlainHTTP.connect(port)
        let text = Array(
            ("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)").utf8)
        _ = Glibc.send(descriptor, text, text.count, Int32(MSG_NOSIGNAL))
        open.append(descriptor)
    }

    /// Takes what has been answered, and waits until so many answers are there altogether.
    func take(untilCount count: Int = 0) {
        while true {
            var ready = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let found = poll(&ready, nfds_t(ready.count), answers.count < count ? Self.waitMilliseconds : 0)
            guard found > 0 else { return }
            for entry in ready where entry.revents != 0 {
                answers.append(PlainHTTP.readToEnd(entry.fd))
                close(entry.fd)
                open.removeAll { $0 == entry.fd }
            }
        }
    }
}
