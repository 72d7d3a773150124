import EventLoop
import Glibc

/// One client of a `ConnectProxy`, and perhaps its tunnel.
final class ConnectProxyLink {
    /// One direction of the tunnel: its bytes that were read and not yet written.
    private struct Stream {
        var pending: [UInt8] = []
    }

    private let client: Int32
    private var server: Int32 = -1
    private let core: ConnectProxyCore
    private var head: [UInt8] = []
    private var registrations: [Int32: EventLoop.Registration] = [:]
    private var toServer = Stream()
    private var toClient = Stream()
    private var hasEnded = false

    init(client: Int32, core: ConnectProxyCore) {
        self.client = client
        self.core = core
    }

    func start() { watch(client) }

    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        for registration in registrations.values { core.loop.deregister(registration) }
        registrations = [:]
        close(client)
        if server >= 0 { close(server) }
        core.ended(self)
    }

    func freeze() {
        for registration in registrations.values { core.loop.deregister(registration) }
        registrations = [:]
    }

    private func watch(_ socket: Int32) {
        do {
            registrations[socket] = try core.loop.register(socket, for: .readable) { [self] _ in ready(socket) }
        } catch {
            end()
        }
    }

    private func ready(_ socket: Int32) {
        if server < 0 {
            readHead()
        } else {
            pass()
        }
    }

    // MARK: The request

    private func readHead() {
        var byte: UInt8 = 0
        // Byte by byte, so that no byte after the head is taken.
        while !hasEnded, server < 0 {
            let count = read(client, &byte, 1)
            if count < 0, errno == EAGAIN { return }
            guard count == 1, head.count < 16_384 else { return end() }
            head.append(byte)
            if head.suffix(4) == Array("\r\n\r\n".utf8) { return answer() }
        }
    }

    private func answer() {
        let text = String(decoding: head, as: UTF8.self)
        core.record(text)
        switch core.behaviour {
        case .tunnel(let authorization):
            let isAllowed = authorization.map { text.contains("Proxy-Authorization: \($0)\r\n") } ?? true
            guard isAllowed else { return finish("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n") }
            let target = text.split(separator: " ").dropFirst().first ?? ""
            guard let port = target.split(separator: ":").last.flatMap({ UInt16($0) }) else { return end() }
            connect(to: port)
        case .tunnelTo(let port): connect(to: port)
        case .tunnelByHost(let ports):
            let target = text.split(separator: " ").dropFirst().first ?? ""
            let host = target[..<(target.lastIndex(of: ":") ?? target.endIndex)]
            guard let port = ports.first(where: { host.hasSuffix($0.key) })?.value else { return }
            connect(to: port)
        case .answer(let bytes): finish(bytes)
        case .hang: return
        case .close: end()
        }
    }

    private func finish(_ bytes: String) {
        _ = Array(bytes.utf8).withUnsafeBytes { write(client, $0.baseAddress, $0.count) }
        end()
    }

    /// Only to this machine: a test must not reach any other.
    private func connect(to port: UInt16) {
        guard let socket = try? TCPSocket.connect(host: "127.0.0.1", port: port) else {
            return finish("HTTP/1.1 502 Bad Gateway\r\n\r\n")
        }
        server = socket
        toClient.pending = Array("HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n".utf8)
        watch(server)
        pass()
    }

    // MARK: The tunnel

    private func pass() {
        guard move(from: client, to: server, &toServer), move(from: server, to: client, &toClient) else { return end() }
        wait(client, writesPending: !toClient.pending.isEmpty, readsMore: toServer.pending.isEmpty)
        wait(server, writesPending: !toServer.pending.isEmpty, readsMore: toClient.pending.isEmpty)
    }

    private func wait(_ socket: Int32, writesPending: Bool, readsMore: Bool) {
        guard let registration = registrations[socket] else { return }
        var events: ReadyEvents = readsMore ? .readable : []
        if writesPending { events.insert(.writable) }
        core.loop.modify(registration, for: events)
    }

    /// Moves as many bytes as possible; returns false at the end of the tunnel.
    private func move(from source: Int32, to target: Int32, _ stream: inout Stream) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            while !stream.pending.isEmpty {
                let count = stream.pending.withUnsafeBytes { write(target, $0.baseAddress, $0.count) }
                if count < 0 { return errno == EAGAIN }
                stream.pending.removeFirst(count)
            }
            let count = read(source, &buffer, buffer.count)
            if count < 0 { return errno == EAGAIN }
            guard count > 0 else { return false }
            stream.pending += buffer.prefix(count)
        }
    }
}
