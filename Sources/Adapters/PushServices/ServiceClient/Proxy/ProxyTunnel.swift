internal import EventLoop
internal import Glibc

/// Asks a proxy for a tunnel to an endpoint, over a socket that connects to the proxy.
///
/// Lives on one loop. It owns the socket until it ends: with success it hands the socket on, connected through to the
/// endpoint; else it closes it.
final class ProxyTunnel {
    private static let addressHint = "check the host and port in proxy, and that the proxy runs"

    private let socket: Int32
    private let proxy: HTTPProxy
    private let target: String
    private let loop: EventLoop
    private let timeoutSeconds: Double
    private var ended: ((Result<Int32, ProxyFailure>) -> Void)?
    private var unsent: ArraySlice<UInt8>
    private var answer = ProxyAnswer()
    private var isConnected = false
    private var registration: EventLoop.Registration?
    private var timer: EventLoop.Timer?

    /// Prepares the request; `start` sends it.
    ///
    /// - Parameters:
    ///   - proxy: the proxy.
    ///   - socket: a socket that connects to it.
    ///   - target: `host:port` of the endpoint.
    ///   - loop: where it runs.
    ///   - timeoutSeconds: how long the proxy may take to connect and to answer.
    ///   - ended: called once, on the loop, unless the tunnel is cancelled.
    init(
        proxy: HTTPProxy, socket: Int32, target: String, loop: EventLoop, timeoutSeconds: Double,
        ended: @escaping (Result<Int32, ProxyFailure>) -> Void
    ) {
        self.socket = socket
        self.proxy = proxy
        self.target = target
        self.loop = loop
        self.timeoutSeconds = timeoutSeconds
        self.ended = ended
        let credentials = proxy.authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        unsent = Array("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\(credentials)\r\n".utf8)[...]
    }

    func start() {
        do throws(EventLoopError) {
            registration = try loop.register(socket, for: .writable) { [self] _ in socketReady() }
        } catch {
            return fail("cannot watch the socket: \(error)", hint: Self.addressHint, isAboutAddress: true)
        }
        timer = loop.schedule(afterNanoseconds: UInt64(timeoutSeconds * 1_000_000_000)) { [self] in
            timer = nil
            let phase = isConnected ? "did not answer CONNECT" : "could not be connected to"
            fail("it \(phase) within \(timeoutSeconds) seconds", hint: Self.addressHint, isAboutAddress: true)
        }
    }

    /// Gives it up; `ended` is not called.
    func cancel() {
        guard ended != nil else { return }
        ended = nil
        release()
        close(socket)
    }

    private func socketReady() {
        guard isConnected || hasConnected() else { return }
        if unsent.isEmpty { read() } else { write() }
    }

    private func hasConnected() -> Bool {
        let code = TCPSocket.pendingError(socket)
        guard code == 0 else {
            fail("cannot connect: \(String(cString: strerror(code)))", hint: Self.addressHint, isAboutAddress: true)
            return false
        }
        isConnected = true
        return true
    }

    private func write() {
        let count = unsent.withUnsafeBytes { Glibc.write(socket, $0.baseAddress, $0.count) }
        guard count >= 0 else {
            guard errno != EAGAIN, errno != EINTR else { return }
            return fail("writing failed: \(String(cString: strerror(errno)))", hint: Self.addressHint)
        }
        unsent = unsent.dropFirst(count)
        if unsent.isEmpty, let registration { loop.modify(registration, for: .readable) }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(socket, &buffer, buffer.count)
        guard count >= 0 else {
            guard errno != EAGAIN, errno != EINTR else { return }
            return fail("reading failed: \(String(cString: strerror(errno)))", hint: Self.addressHint)
        }
        guard count > 0 else { return fail("it closed the connection without an answer", hint: Self.addressHint) }
        switch answer.add(buffer.prefix(count)) {
        case .incomplete: return
        case .established: succeed()
        case .refused(let status, let reason): refused(status, reason)
        case .garbage(let text):
            fail("what answers there is no HTTP proxy: \(text)", hint: "check the host and port in proxy")
        }
    }

    private func refused(_ status: Int, _ reason: String) {
        let text = reason.isEmpty ? "\(status)" : "\(status) \(reason)"
        guard status == 407 else {
            return fail(
                "it answered \(text) to CONNECT \(target)",
                hint: "let the proxy allow CONNECT to \(target), or use the other port (443 or 2197)")
        }
        if proxy.authorization == nil {
            fail("it asks for credentials (\(text))", hint: "write http://USER:PASSWORD@HOST:PORT as proxy")
        } else {
            fail("it refuses the credentials (\(text))", hint: "check the user and the password in proxy")
        }
    }

    private func succeed() {
        let ended = ended
        self.ended = nil
        release()
        ended?(.success(socket))
    }

    private func fail(_ reason: String, hint: String, isAboutAddress: Bool = false) {
        let ended = ended
        self.ended = nil
        release()
        close(socket)
        ended?(.failure(ProxyFailure(reason: reason, hint: hint, isAboutAddress: isAboutAddress)))
    }

    private func release() {
        if let registration { loop.deregister(registration) }
        registration = nil
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}

/// The answer of a proxy to CONNECT, put together from the bytes as they come: a pure state machine.
struct ProxyAnswer {
    /// The state of the answer so far.
    enum Verdict: Hashable {
        /// The head of the answer is not complete.
        case incomplete
        /// The tunnel is there.
        case established
        /// The proxy answered with another status; the reason is fit for a log.
        case refused(status: Int, reason: String)
        /// The bytes are no answer of an HTTP proxy.
        case garbage(String)
    }

    /// The most bytes that are read of an answer's head.
    static let headBytesMaximum = 16_384
    private static let reasonBytesMaximum = 64

    private var head: [UInt8] = []

    /// Takes bytes in.
    ///
    /// - Parameter bytes: the received bytes; nothing may follow the head of an answer that establishes a tunnel,
    ///   because in TLS the client speaks first.
    /// - Returns: the state after all bytes so far.
    mutating func add(_ bytes: some Sequence<UInt8>) -> Verdict {
        head += bytes
        let start = Array("HTTP/1.".utf8)
        guard zip(head, start).allSatisfy({ $0 == $1 }) else { return .garbage("it does not speak HTTP") }
        guard let end = endOfHead() else {
            return head.count > Self.headBytesMaximum ? .garbage("its answer does not end") : .incomplete
        }
        let line = head.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[1].count == 3, let status = Int(String(decoding: words[1], as: UTF8.self)),
            status >= 100
        else { return .garbage("it does not speak HTTP") }
        guard (200...299).contains(status) else {
            let reason = words.count == 3 ? words[2].prefix(Self.reasonBytesMaximum) : []
            let printable = reason.filter { (0x20..<0x7f).contains($0) }
            return .refused(status: status, reason: String(decoding: printable, as: UTF8.self))
        }
        return end == head.count ? .established : .garbage("it sent bytes before the tunnel was used")
    }

    /// Where the empty line ends that ends the head; line ends may lack their carriage return.
    private func endOfHead() -> Int? {
        var isLineEmpty = false
        for (index, byte) in head.enumerated() {
            if byte == UInt8(ascii: "\n") {
                if isLineEmpty { return index + 1 }
                isLineEmpty = true
            } else if byte != UInt8(ascii: "\r") {
                isLineEmpty = false
            }
        }
        return nil
    }
}

/// Why a proxy made no tunnel.
struct ProxyFailure: Error, Hashable {
    /// The reason of the failure, without credentials.
    let reason: String
    /// The advice for an operator.
    let hint: String
    /// Whether another address of the proxy may do better.
    let isAboutAddress: Bool
}
