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
