import EventLoop
import Glibc

/// Passes bytes between clients and a server, and cuts both off after so many bytes from the server.
struct CuttingProxy: Sendable {
    private final class Content {
        var listener: TCPListener?
        var bytesFromServerMaximum = Int.max
    }

    /// One client and its connection to the server.
    private final class Link {
        let loop: EventLoop
        let client: Int32
        let server: Int32
        var remaining: Int
        var registrations: [EventLoop.Registration] = []

        init(loop: EventLoop, client: Int32, server: Int32, remaining: Int) throws {
            self.loop = loop
            self.client = client
            self.server = server
            self.remaining = remaining
            registrations = [
                try loop.register(client, for: .readable) { [self] _ in pass(from: client, to: server) },
                try loop.register(server, for: .readable) { [self] _ in pass(from: server, to: client) },
            ]
        }

        private func pass(from source: Int32, to target: Int32) {
            guard !registrations.isEmpty else { return }
            let isFromServer = source == server
            var buffer = [UInt8](repeating: 0, count: isFromServer ? max(1, min(4_096, remaining)) : 4_096)
            let count = isFromServer && remaining == 0 ? 0 : read(source, &buffer, buffer.count)
            if count < 0, errno == EAGAIN { return }
            // A test's few bytes always fit into the socket.
            guard count > 0, write(target, buffer, count) == count else { return cut() }
            if isFromServer {
                remaining -= count
                if remaining == 0 { cut() }
            }
        }

        private func cut() {
            for registration in registrations { loop.deregister(registration) }
            registrations = []
            close(client)
            close(server)
        }
    }

    let port: UInt16
    let loop: EventLoop
    private let content: LoopBound<Content>

    private init(_ content: sending Content, port: UInt16, loop: EventLoop) {
        self.port = port
        self.loop = loop
        self.content = LoopBound(content, to: loop)
    }

    static func start(to serverPort: UInt16) async throws -> CuttingProxy {
        let loop = try EventLoop(name: "test-proxy")
        return try await loop.run {
            let content = Content()
            let listener = try TCPListener(host: "127.0.0.1", port: 0, loop: loop) { [unowned content] descriptor in
                guard let server = try? TCPSocket.connect(host: "127.0.0.1", port: serverPort) else { return }
                // Loopback connects at once; the proxy waits for no more.
                _ = try? Link(
                    loop: loop, client: descriptor, server: server, remaining: content.bytesFromServerMaximum)
            }
            content.listener = listener
            let port = listener.port
            return CuttingProxy(content, port: port, loop: loop)
        }
    }

    /// Sets after how many bytes from the server the next connections are cut.
    func cut(afterBytesFromServer count: Int) async throws {
        try await loop.run { [content] in content.value.bytesFromServerMaximum = count }
    }

    func stop() async throws {
        try await loop.run { [content] in content.value.listener?.close() }
        loop.stopAndJoin()
    }
}
