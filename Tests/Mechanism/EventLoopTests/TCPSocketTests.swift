import EventLoop
import Glibc
import Testing

@Suite("TCP sockets")
struct TCPSocketTests {
    private static func option(_ descriptor: Int32, _ level: Int32, _ name: Int32) -> Int32 {
        var value: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, level, name, &value, &length)
        return value
    }

    @Test("A listener hands over each connection, with the options set on both ends", arguments: ["127.0.0.1", "::1"])
    func listenerAccepts(host: String) async throws {
        let loop = try EventLoop(name: "test")
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        let listener = try await loop.run {
            let listener = try TCPListener(host: host, port: 0, loop: loop) { descriptor in
                continuation.yield(descriptor)
            }
            return LoopBound(listener, to: loop)
        }
        let port = try await loop.run { listener.value.port }
        #expect(port != 0)
        var clients: [Int32] = []
        for _ in 0..<100 { clients.append(try TCPSocket.connect(host: host, port: port)) }
        var accepted: [Int32] = []
        for await descriptor in stream {
            #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            #expect(Self.option(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY) == 1)
            #expect(Self.option(descriptor, SOL_SOCKET, SO_KEEPALIVE) == 1)
            accepted.append(descriptor)
            if accepted.count == 100 { break }
        }
        for client in clients {
            #expect(fcntl(client, F_GETFL) & O_NONBLOCK != 0)
            #expect(Self.option(client, Int32(IPPROTO_TCP), TCP_NODELAY) == 1)
            #expect(TCPSocket.pendingError(client) == 0)
        }
        try await loop.run {
            listener.value.close()
            listener.value.close()
        }
        let late = try? TCPSocket.connect(host: host, port: port)
        if let late { close(late) }
        loop.stopAndJoin()
        for descriptor in clients + accepted { close(descriptor) }
    }

    @Test("A port that is taken is refused with the address in the reason")
    func takenPortIsRefused() async throws {
        let (descriptor, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
        defer { close(descriptor) }
        let error = #expect(throws: EventLoopError.self) { _ = try TCPSocket.listen(host: "127.0.0.1", port: port) }
        #expect(error?.code == EADDRINUSE)
        #expect(error?.description.contains("127.0.0.1:\(port)") == true)
    }

    @Test("A host that does not exist is refused by the resolver's own words")
    func unknownHostIsRefused() throws {
        let error = #expect(throws: EventLoopError.self) {
            _ = try TCPSocket.connect(host: "no such host", port: 1)
        }
        #expect(error?.call == "getaddrinfo")
        #expect(error?.description.contains("no such host") == true)
    }

    @Test("A refused connection is found as the pending error of the socket")
    func refusedConnectionIsFound() async throws {
        // Bound and not listening: a port that was given back might be another test's by now.
        let bound = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(bound) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                #expect(bind(bound, $0, length) == 0 && getsockname(bound, $0, &length) == 0)
            }
        }
        let descriptor = try TCPSocket.connect(host: "127.0.0.1", port: UInt16(bigEndian: address.sin_port))
        defer { close(descriptor) }
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        #expect(poll(&waiting, 1, 10_000) == 1)
        #expect(TCPSocket.pendingError(descriptor) == ECONNREFUSED)
    }

    @Test("An empty queue has no connection to accept, and a closed listener is an error")
    func emptyQueueHasNothing() throws {
        let (descriptor, _) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
        #expect(try TCPSocket.accept(descriptor) == nil)
        close(descriptor)
        #expect(throws: EventLoopError.self) { _ = try TCPSocket.accept(-1) }
    }

    @Test("Addresses are written in their usual form")
    func addressIsWritten() throws {
        #expect(try SocketAddress.resolve(host: "127.0.0.1", port: 443).map(\.description) == ["127.0.0.1:443"])
        #expect(try SocketAddress.resolve(host: "::1", port: 2_197).map(\.description) == ["[::1]:2197"])
    }
}
