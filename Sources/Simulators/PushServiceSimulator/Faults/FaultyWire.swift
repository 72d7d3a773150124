import EventLoop
import Glibc

/// Carries the bytes of a connection between the client and the server's own end, and tampers with them on the way.
///
/// It lives on the loop of its connection, holds itself until either side ends, and buffers at most one read of each
/// direction.
final class FaultyWire {
    private struct Direction {
        var pending: [UInt8] = []
        var isDone = false
    }

    private static let readBytes = 16_384

    private let client: Int32
    private let server: Int32
    private let fault: WireFault
    private let loop: EventLoop
    private var registrations: [Int32: EventLoop.Registration] = [:]
    private var toServer = Direction()
    private var toClient = Direction()
    private var sentBytes = 0
    private var budgetBytes = Int.max
    private var timer: EventLoop.Timer?
    private var isIdle = true
    private var hasEnded = false
    private var isSilent = false

    private init(client: Int32, server: Int32, fault: WireFault, loop: EventLoop) {
        self.client = client
        self.server = server
        self.fault = fault
        self.loop = loop
    }

    /// Puts a wire between a client and its server.
    ///
    /// - Returns: the socket to serve in place of the client's; nil if the system gave none, and then the client's
    ///   socket is closed.
    static func insert(before client: Int32, _ fault: WireFault, loop: EventLoop) -> Int32? {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            close(client)
            return nil
        }
        let wire = FaultyWire(client: client, server: ends[0], fault: fault, loop: loop)
        wire.start()
        return ends[1]
    }

    private func start() {
        switch fault {
        case .silence(let bytes) where bytes == 0: isSilent = true
        case .drip(let bytes): drip(bytes)
        case .endWhenIdle(let milliseconds): endWhenIdle(milliseconds)
        default: break
        }
        do {
            for socket in [client, server] {
                registrations[socket] = try loop.register(socket, for: .readable) { [self] _ in pass() }
            }
        } catch {
            end(resets: false)
        }
    }

    private func drip(_ bytes: Int) {
        budgetBytes = bytes
        timer = loop.schedule(afterNanoseconds: 1_000_000) { [self] in
            guard !hasEnded else { return }
            drip(bytes)
            pass()
        }
    }

    /// Looks once in each time whether anything went since the last look, so it ends after one to two such times.
    private func endWhenIdle(_ milliseconds: Int) {
        isIdle = true
        timer = loop.schedule(afterNanoseconds: UInt64(milliseconds) * 1_000_000) { [self] in
            guard !hasEnded else { return }
            if isIdle { end(resets: false) } else { endWhenIdle(milliseconds) }
        }
    }

    private func pass() {
        guard !hasEnded else { return }
        isIdle = false
        guard !isSilent else { return stopReading() }
        guard move(from: client, to: server, &toServer, limit: .max) != nil,
            let sent = move(from: server, to: client, &toClient, limit: limitBytes)
        else { return end(resets: false) }
        sentBytes += sent
        if case .drip = fault { budgetBytes -= sent }
        switch fault {
        case .reset(let bytes) where sentBytes >= bytes: return end(resets: true)
        case .silence(let bytes) where sentBytes >= bytes:
            isSilent = true
            return stopReading()
        default: break
        }
        wait(client, writes: !toClient.pending.isEmpty && limitBytes > 0, reads: toServer.pending.isEmpty)
        wait(server, writes: !toServer.pending.isEmpty, reads: toClient.pending.isEmpty)
    }

    /// How many bytes may go to the client now.
    private var limitBytes: Int {
        switch fault {
        case .reset(let bytes), .silence(let bytes): max(0, bytes - sentBytes)
        case .drip: max(0, budgetBytes)
        case .endWhenIdle: .max
        }
    }

    private func stopReading() {
        for registration in registrations.values { loop.modify(registration, for: []) }
    }

    private func wait(_ socket: Int32, writes: Bool, reads: Bool) {
        guard let registration = registrations[socket] else { return }
        var events: ReadyEvents = reads ? .readable : []
        if writes { events.insert(.writable) }
        loop.modify(registration, for: events)
    }

    /// Moves as many bytes as possible and allowed.
    ///
    /// - Returns: how many bytes were written; nil at the end.
    private func move(from source: Int32, to target: Int32, _ direction: inout Direction, limit: Int) -> Int? {
        var written = 0
        var buffer = [UInt8](repeating: 0, count: Self.readBytes)
        while true {
            while !direction.pending.isEmpty {
                let most = min(direction.pending.count, limit - written)
                guard most > 0 else { return written }
                let count = direction.pending.withUnsafeBytes { bytes in
                    send(target, bytes.baseAddress, most, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
                }
                if count < 0 { return errno == EAGAIN ? written : nil }
                direction.pending.removeFirst(count)
                written += count
            }
            let count = read(source, &buffer, buffer.count)
            if count < 0 { return errno == EAGAIN ? written : nil }
            guard count > 0 else { return nil }
            direction.pending += buffer.prefix(count)
        }
    }

    private func end(resets: Bool) {
        guard !hasEnded else { return }
        hasEnded = true
        if let timer { loop.cancel(timer) }
        for registration in registrations.values { loop.deregister(registration) }
        registrations = [:]
        if resets {
            // Closing without waiting makes the kernel send RST.
            var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
            setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        }
        close(client)
        close(server)
    }
}
