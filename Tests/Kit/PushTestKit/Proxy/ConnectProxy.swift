import EventLoop

/// An HTTP proxy for tests: makes tunnels by CONNECT, or misbehaves.
public final class ConnectProxy: Sendable {
    /// The reaction to a request.
    public enum Behaviour: Sendable {
        /// Connects to the target, if the header `proxy-authorization` has this value; nil asks for none.
        case tunnel(authorization: String?)
        /// Connects to this port of the machine, under any name of the target.
        case tunnelTo(port: UInt16)
        /// Connects to the port of this machine that belongs to the end of the target's host, and never answers for any
        /// other host.
        case tunnelByHost([String: UInt16])
        /// Writes these bytes in answer to every request, and closes.
        case answer(String)
        /// Never answers.
        case hang
        /// Closes without an answer.
        case close
    }

    /// Its port on 127.0.0.1.
    public let port: UInt16
    /// The heads of the requests that it got.
    public let requests: Watched<[String]>
    private let loop: EventLoop
    private let core: LoopBound<ConnectProxyCore>

    private init(
        port: UInt16, requests: Watched<[String]>, loop: EventLoop, core: LoopBound<ConnectProxyCore>
    ) {
        self.port = port
        self.requests = requests
        self.loop = loop
        self.core = core
    }

    /// Starts a proxy.
    ///
    /// - Parameter behaviour: the reaction to each request.
    /// - Returns: the proxy.
    /// - Throws: `EventLoopError` if there is no thread or no port.
    public static func start(_ behaviour: Behaviour) async throws -> ConnectProxy {
        let loop = try EventLoop(name: "test-proxy")
        let requests = Watched<[String]>([])
        let core = LoopBound(ConnectProxyCore(loop: loop, behaviour: behaviour, requests: requests), to: loop)
        let port = try await loop.run { try core.value.listen() }
        return ConnectProxy(port: port, requests: requests, loop: loop, core: core)
    }

    /// Does something else with requests from now on.
    public func behave(_ behaviour: Behaviour) async throws {
        try await loop.run { [core] in core.value.behaviour = behaviour }
    }

    /// Passes nothing on any more in the tunnels that there are, and leaves them open: both ends see a peer that has
    /// vanished without a word.
    public func freeze() async throws { try await loop.run { [core] in core.value.freeze() } }

    /// Closes everything.
    public func stop() async throws {
        try await loop.run { [core] in core.value.stop() }
        loop.stopAndJoin()
    }
}

/// The part of a `ConnectProxy` that lives on its loop.
final class ConnectProxyCore {
    let loop: EventLoop
    var behaviour: ConnectProxy.Behaviour
    private let requests: Watched<[String]>
    private var listener: TCPListener?
    private var links: [ConnectProxyLink] = []

    init(loop: EventLoop, behaviour: ConnectProxy.Behaviour, requests: Watched<[String]>) {
        self.loop = loop
        self.behaviour = behaviour
        self.requests = requests
    }

    func listen() throws -> UInt16 {
        let listener = try TCPListener(host: "127.0.0.1", port: 0, loop: loop) { [self] socket in
            let link = ConnectProxyLink(client: socket, core: self)
            links.append(link)
            link.start()
        }
        self.listener = listener
        return listener.port
    }

    func record(_ head: String) { requests.update { $0.append(head) } }

    func ended(_ link: ConnectProxyLink) { links.removeAll { $0 === link } }

    func freeze() { for link in links { link.freeze() } }

    func stop() {
        listener?.close()
        listener = nil
        for link in links { link.end() }
    }
}
