import Dispatch
import Glibc

/// A minute HTTP/1.1 client for servers on this machine: one request, one connection.
public enum PlainHTTP {
    /// An answer.
    public struct Answer: Sendable {
        /// The status; 0 if the server closed without an answer.
        public let status: Int
        /// The fields of the head, names in lower case.
        public let headers: [String: String]
        /// The body.
        public let body: String
    }

    /// Sends a request to 127.0.0.1 and reads until the server closes.
    ///
    /// - Parameters:
    ///   - method: for example `GET`.
    ///   - path: for example `/metrics`.
    ///   - port: the server's port.
    ///   - body: the bytes after the head.
    ///   - fields: further lines of the head, each with its end.
    /// - Returns: the answer; its status is 0 if nothing listens there.
    public static func request(
        _ method: String, _ path: String, port: UInt16, body: String = "", fields: String = ""
    ) -> Answer {
        let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
        return exchange(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(length)\(fields)Connection: close\r\n\r\n\(body)", port)
    }

    /// Sends any text and reads until the server closes.
    ///
    /// - Parameters:
    ///   - text: the text to send.
    ///   - port: the server's port.
    ///   - source: the address of this machine that it comes from; nil for any.
    /// - Returns: the answer; its status is 0 if there was none.
    public static func exchange(_ text: String, _ port: UInt16, from source: String? = nil) -> Answer {
        let descriptor = connect(port, from: source)
        guard descriptor >= 0 else { return Answer(status: 0, headers: [:], body: "") }
        defer { close(descriptor) }
        write(text, to: descriptor)
        return readToEnd(descriptor)
    }

    /// Sends text over a connected socket.
    public static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads from a connected socket until the server closes.
    public static func readToEnd(_ descriptor: Int32) -> Answer {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            // With a time limit a signal ends the call instead of restarting it.
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        return parse(String(decoding: bytes, as: UTF8.self))
    }

    /// A connected socket, whose reads wait for two minutes at most; -1 if nothing listens there.
    ///
    /// - Parameters:
    ///   - port: the server's port.
    ///   - source: the address of this machine that it comes from, for example `127.0.0.2`; nil for any.
    /// - Returns: a descriptor that is the caller's to close.
    public static func connect(_ port: UInt16, from source: String? = nil) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var timeout = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let isBound = source.map { call(bind, descriptor, $0, 0) == 0 } ?? true
        guard isBound, call(Glibc.connect, descriptor, "127.0.0.1", port) == 0 else {
            close(descriptor)
            return -1
        }
        return descriptor
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32, _ host: String,
        _ port: UInt16
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func parse(_ text: String) -> Answer {
        // A carriage return and its line feed are one Character.
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        let head = lines.prefix { !$0.isEmpty }
        let status = head.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        var headers: [String: String] = [:]
        for line in head.dropFirst() {
            let name = line.prefix { $0 != ":" }
            headers[name.lowercased()] = String(line.dropFirst(name.count + 1).drop { $0 == " " })
        }
        return Answer(
            status: status, headers: headers, body: lines.dropFirst(head.count + 1).joined(separator: "\r\n"))
    }

    /// Sends a request as `request` does, on a thread of its own.
    ///
    /// The threads of the global queue run Swift's tasks, too: a few that wait would hold up all other tests.
    public static func requestInBackground(
        _ method: String, _ path: String, port: UInt16, body: String = "", fields: String = ""
    ) async -> Answer {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "request").async {
                continuation.resume(returning: request(method, path, port: port, body: body, fields: fields))
            }
        }
    }
}

/// A minute client for servers on this machine that answer a line with a line.
public enum PlainLine {
    /// Sends a line to 127.0.0.1 and waits for one, on a thread that may wait.
    ///
    /// - Parameters:
    ///   - line: without its line feed.
    ///   - port: the server's port.
    /// - Returns: the answer without its line feed; empty if nothing listens there or the server closed.
    public static func ask(_ line: String, port: UInt16) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "request").async {
                continuation.resume(returning: exchange(line, port))
            }
        }
    }

    private static func exchange(_ line: String, _ port: UInt16) -> String {
        let descriptor = PlainHTTP.connect(port)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        let bytes = Array("\(line)\n".utf8)
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return "" }
        return SupervisedProcess.readLine(descriptor) ?? ""
    }
}
