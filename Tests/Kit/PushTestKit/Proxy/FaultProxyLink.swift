import EventLoop
import Glibc

/// One client of a `FaultProxy` and its connection to the server.
final class FaultProxyLink {
    private static let readBytesMaximum = 65_536
    private static let writesPerTurnMaximum = 64

    /// One of the two sockets, by the direction that leads to it.
    private struct Side {
        let socket: Int32
        var registration: EventLoop.Registration?
    }

    private let core: FaultProxyCore
    private let number: Int
    private var sides: [ProxyDirection: Side]
    private let streams: [ProxyDirection: FaultProxyStream]
    private var pieces: [AMQPFrameScanner.Piece] = []
    private var timer: EventLoop.Timer?
    private var isConnecting = true
    private var isTurnScheduled = false

    /// Begins to connect to the server; nil if that fails at once, and then the client is still the caller's.
    init?(client: Int32, number: Int, core: FaultProxyCore) {
        guard let server = try? TCPSocket.connect(host: "127.0.0.1", port: core.serverPort) else { return nil }
        self.core = core
        self.number = number
        sides = [.toServer: Side(socket: server), .toClient: Side(socket: client)]
        streams = [
            .toServer: FaultProxyStream(direction: .toServer), .toClient: FaultProxyStream(direction: .toClient),
        ]
        for (direction, events) in [(ProxyDirection.toServer, ReadyEvents.writable), (.toClient, [])] {
            sides[direction]?.registration = try? core.loop.register(
                direction == .toServer ? server : client, for: events
            ) { [self] in ready(direction, $0) }
        }
    }

    private var hasEnded: Bool { sides.isEmpty }

    private func ready(_ side: ProxyDirection, _ events: ReadyEvents) {
        guard let socket = sides[side]?.socket else { return }
        if isConnecting, side == .toServer {
            guard TCPSocket.pendingError(socket) == 0 else { return reset() }
            isConnecting = false
        }
        let stream = stream(from: side)
        if isReading(stream) {
            take(stream, from: socket)
        } else if stream?.isSourceFinished == true, streams[side]?.isFinished == true {
            // Both directions have ended here in order; the other side may still have to be served.
            ignore(side)
        } else if !events.isDisjoint(with: [.error, .hangUp]) {
            vanished(side)
        }
        turn()
    }

    // MARK: Reading

    /// The stream that begins at a side.
    private func stream(from side: ProxyDirection) -> FaultProxyStream? {
        streams[side == .toServer ? .toClient : .toServer]
    }

    private func silence(_ stream: FaultProxyStream) -> ProxySilence? {
        stream.silence ?? core.conditions.silences[stream.direction]
    }

    private func isReading(_ stream: FaultProxyStream?) -> Bool {
        guard let stream, !isConnecting, !stream.isSourceFinished else { return false }
        return stream.waitingBytes < FaultProxyStream.waitingBytesMaximum && silence(stream) != .held
    }

    private func take(_ stream: FaultProxyStream?, from socket: Int32) {
        guard let stream else { return }
        // Bytes that are read together are delayed together, so a slow line is read in small pieces.
        let maximum = min(Self.readBytesMaximum, max(1, core.conditions.bytesPerSecondMaximum / 50))
        var bytes = [UInt8](repeating: 0, count: maximum)
        let count = read(socket, &bytes, maximum)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count >= 0 else { return vanished(stream.direction == .toServer ? .toClient : .toServer) }
        guard count > 0 else {
            stream.isSourceFinished = true
            return append(.finish, to: stream)
        }
        bytes.removeLast(maximum - count)
        guard silence(stream) == nil else {
            stream.hasLostBytes = true
            return
        }
        if let limit = core.byteLimit(stream.direction, link: number), stream.bytesTaken + count >= limit {
            let passing = max(0, limit - stream.bytesTaken)
            pass(Array(bytes[..<passing]), stream)
            if let strike = core.fire({ $0 == .bytes(stream.direction, limit) }) {
                append(.strike(strike), to: stream)
            }
            pass(Array(bytes[passing...]), stream)
        } else {
            pass(bytes, stream)
        }
    }

    private func pass(_ bytes: [UInt8], _ stream: FaultProxyStream) {
        stream.bytesTaken += bytes.count
        guard core.readsAMQP else { return append(.write(bytes), to: stream) }
        pieces.removeAll(keepingCapacity: true)
        stream.scanner.take(bytes, into: &pieces)
        for piece in pieces {
            switch piece {
            case .bytes(let bytes): append(.write(bytes), to: stream)
            case .reached(let marker, let moment):
                if let strike = core.fire({ $0 == .method(marker, moment) }) {
                    append(.strike(strike), to: stream)
                }
            }
        }
    }

    private func append(_ item: FaultProxyStream.Item, to stream: FaultProxyStream) {
        if case .write(let bytes) = item, bytes.isEmpty { return }
        stream.append(
            item, dueNanoseconds: core.loop.nowNanoseconds + core.delayNanoseconds(),
            bytesPerSecondMaximum: core.conditions.bytesPerSecondMaximum)
    }

    // MARK: Writing

    /// Does the due work of both directions, and waits for the next.
    private func turn() {
        for direction in ProxyDirection.allCases { flush(direction) }
        guard !hasEnded else { return }
        if streams.values.allSatisfy(\.isFinished) { return close() }
        waitForEvents()
        waitForTime()
    }

    private func flush(_ direction: ProxyDirection) {
        guard let stream = streams[direction], !isConnecting else { return }
        stream.awaitsRoom = false
        var writesLeft = core.conditions.writeBytesMaximum < Self.readBytesMaximum ? 1 : Self.writesPerTurnMaximum
        while let side = sides[direction], let item = stream.first(nowNanoseconds: core.loop.nowNanoseconds) {
            switch item {
            case .write(let bytes):
                guard silence(stream) == nil else {
                    stream.hasLostBytes = silence(stream) == .swallowed || stream.hasLostBytes
                    if silence(stream) == .held { return }
                    stream.done(bytes: bytes.count)
                    continue
                }
                guard writesLeft > 0 else { return scheduleTurn() }
                writesLeft -= 1
                let count = write(side.socket, bytes, min(bytes.count, core.conditions.writeBytesMaximum))
                if count < 0, errno == EAGAIN {
                    stream.awaitsRoom = true
                    return
                }
                guard count >= 0 else { return vanished(direction) }
                stream.done(bytes: count)
            case .strike(let strike):
                stream.done()
                carryOut(strike)
            case .finish:
                guard silence(stream) == nil else { return }
                stream.done()
                stream.isFinished = true
                shutdown(side.socket, Int32(SHUT_WR))
            }
        }
    }

    private func carryOut(_ strike: FaultTrigger.Strike) {
        switch strike {
        case .reset: reset()
        case .silence(let directions): for direction in directions { streams[direction]?.silence = .swallowed }
        }
    }

    /// Continues in the next tick, so that the other side can read the written bytes first.
    private func scheduleTurn() {
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        core.loop.atEndOfTick { [self] in
            isTurnScheduled = false
            if !hasEnded { turn() }
        }
    }

    private func waitForEvents() {
        for (direction, side) in sides {
            guard let registration = side.registration else { continue }
            var events: ReadyEvents = isReading(stream(from: direction)) ? .readable : []
            if streams[direction]?.awaitsRoom == true || isConnecting && direction == .toServer {
                events.insert(.writable)
            }
            core.loop.modify(registration, for: events)
        }
    }

    private func waitForTime() {
        if let timer { core.loop.cancel(timer) }
        timer = nil
        let now = core.loop.nowNanoseconds
        let due = streams.values.compactMap(\.nextDueNanoseconds).filter { $0 > now }.min()
        guard let due else { return }
        timer = core.loop.schedule(afterNanoseconds: due - now) { [self] in
            timer = nil
            if !hasEnded { turn() }
        }
    }

    // MARK: The end

    func conditionsChanged() {
        guard !hasEnded else { return }
        let isIncomplete = sides.count == 1 || streams.values.contains { $0.hasLostBytes && silence($0) == nil }
        if isIncomplete, core.conditions.silences.isEmpty { reset() } else { turn() }
    }

    private func ignore(_ side: ProxyDirection) {
        if let registration = sides[side]?.registration { core.loop.deregister(registration) }
        sides[side]?.registration = nil
    }

    /// A side was reset; the other gets a reset, too, unless that direction is silent.
    private func vanished(_ side: ProxyDirection) {
        guard let gone = sides[side], sides.count == 2, let stream = stream(from: side), silence(stream) != nil else {
            return reset()
        }
        ignore(side)
        Glibc.close(gone.socket)
        sides[side] = nil
        stream.isSourceFinished = true
    }

    /// Ends the connection in such a way that both sides see a reset.
    func reset() { end { FaultProxyCore.reset($0) } }

    private func close() { end { _ = Glibc.close($0) } }

    private func end(_ close: (Int32) -> Void) {
        guard !hasEnded else { return }
        for side in sides.values {
            if let registration = side.registration { core.loop.deregister(registration) }
            close(side.socket)
        }
        sides = [:]
        if let timer { core.loop.cancel(timer) }
        core.ended(self)
    }
}
