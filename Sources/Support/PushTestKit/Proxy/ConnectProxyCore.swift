import EventLoop

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
