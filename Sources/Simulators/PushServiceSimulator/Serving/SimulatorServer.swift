import Essentials
public import EventLoop
import Glibc
import HTTP2

/// The part of a simulator that lives on one loop: its connections, the memory of their requests, and the answers that
/// wait for their time.
public final class SimulatorServer {
    /// How long records wait for the file at most, in nanoseconds.
    private static let recordIntervalNanoseconds: UInt64 = 100_000_000
    /// How many requests' memory is kept for use by later ones.
    private static let spareRequestsMaximum = 4_096

    /// The properties of the simulator.
    public let configuration: ServingConfiguration
    /// The loop that it lives on.
    public let loop: EventLoop
    /// The faults, which all loops share.
    public let faults: FaultBook
    /// The records of this loop.
    public let records: RecordWriter
    /// The number of answers of all loops.
    public let progress: SimulatorProgress
    var counts = ServingCounts()

    let traits: ServiceTraits
    private let parts: ServingParts
    private var latency: LatencySource
    private var spareRequests: [RequestState] = []
    private var connections: [ObjectIdentifier: SimulatorConnection] = [:]
    private var listener: TCPListener?
    private var isStopping = false
    private var headers = HeaderBlock()
    private var date: (seconds: Int64, text: [UInt8]) = (0, [])

    init(parts: ServingParts, loop: EventLoop, loopIndex: Int) {
        self.parts = parts
        self.loop = loop
        configuration = parts.configuration
        traits = parts.traits
        faults = parts.faults
        progress = parts.progress
        records = RecordWriter(file: parts.recordFile, handler: parts.configuration.recordHandler)
        latency = LatencySource(parts.configuration.latency, loopIndex: loopIndex)
        scheduleRecordWriting()
    }

    // MARK: Connections

    /// Listens, and hands every connection to `accepted`.
    func listen(accepted: @escaping (Int32) -> Void) throws(EventLoopError) -> UInt16 {
        let listener = try TCPListener(
            host: configuration.host, port: configuration.port, loop: loop, accepted: accepted)
        self.listener = listener
        return listener.port
    }

    /// Serves a connection that was accepted, and owns its socket from now on.
    func serve(_ socket: Int32, handler: any RequestHandler) {
        guard !isStopping, connections.count < configuration.connectionsMaximum else {
            counts.connectionsRefused += 1
            Glibc.close(socket)
            return
        }
        let (number, connectionFaults) = faults.connectionCame()
        let connection = SimulatorConnection(server: self, number: number)
        counts.connections += 1
        var socket = socket
        var context = parts.tls
        var window: (bytes: Int, addedBytes: Int, everyMilliseconds: Int)?
        for fault in connectionFaults {
            switch fault {
            case .wire(let wire):
                guard let end = FaultyWire.insert(before: socket, wire, loop: loop) else { return }
                socket = end
            case .window(let bytes, let added, let every): window = (bytes, added, every)
            case .foreignCertificate: context = parts.foreignTLS
            default: break
            }
        }
        do {
            try connection.start(socket: socket, tls: context, window: window, handler: handler)
            connections[ObjectIdentifier(connection)] = connection
        } catch {
            counts.connectionsFailed += 1
        }
    }

    /// Forgets a connection that has closed.
    func connectionClosed(_ connection: SimulatorConnection) {
        connections[ObjectIdentifier(connection)] = nil
    }

    /// Stops listening, closes all connections and writes the last records.
    func stop() {
        isStopping = true
        listener?.close()
        listener = nil
        for connection in Array(connections.values) { connection.close() }
        records.write()
    }

    // MARK: Requests

    /// Takes the memory for a new request.
    func takeRequest(stream: Int32) -> RequestState {
        let request =
            spareRequests.popLast()
            ?? RequestState(traits.headerNames, bodyBytesMaximum: traits.bodyBytesMaximum)
        request.begin(stream: stream)
        return request
    }

    /// Gives the memory of a request back.
    func giveBack(_ request: RequestState) {
        request.generation += 1
        request.note = nil
        if spareRequests.count < Self.spareRequestsMaximum { spareRequests.append(request) }
    }

    /// The counts that all push services have.
    public var servingCounts: ServingCounts { counts }

    /// Counts a request that gets no answer.
    public func leftUnanswered() { counts.silent += 1 }

    /// Counts a request that was served, and whose answer does not come.
    public func answerLost() { counts.lostAnswers += 1 }

    /// Lets the connection's handler give an answer, when the latency of the simulator and of the request has passed.
    ///
    /// - Parameters:
    ///   - answer: a number by which the handler knows it.
    ///   - request: the request to answer.
    ///   - connection: its connection.
    ///   - delayNanoseconds: how much later than usual the answer comes.
    public func answer(
        _ answer: Int, to request: RequestState, on connection: SimulatorConnection, delayNanoseconds: UInt64 = 0
    ) {
        let delay = delayNanoseconds + request.extraDelayNanoseconds + latency.nextNanoseconds()
        guard delay > 0 else { return connection.give(answer, to: request) }
        let generation = request.generation
        loop.schedule(afterNanoseconds: delay) { [weak self] in
            guard let self, !isStopping, request.generation == generation else { return }
            connection.give(answer, to: request)
        }
    }

    /// Sends an answer with the header `date`.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - connection: its connection.
    ///   - answer: the answer.
    ///   - challenge: the header `www-authenticate`; nil for none.
    /// - Returns: false if the stream or the connection is gone.
    public func respond(
        to request: RequestState, on connection: SimulatorConnection, _ answer: ServiceAnswer, challenge: String? = nil
    ) -> Bool {
        let seconds = nowMilliseconds / 1_000
        if seconds != date.seconds || date.text.isEmpty { date = (seconds, Array(HTTPDate.text(seconds).utf8)) }
        headers.removeAll()
        headers.add(answer, date: date.text, challenge: challenge)
        return connection.respond(to: request, headers, body: answer.body)
    }

    // MARK: Time

    /// The time by which credentials age, in milliseconds since 1970.
    public var nowMilliseconds: Int64 { configuration.wallClockMilliseconds() }

    private func scheduleRecordWriting() {
        guard records.writesLines else { return }
        loop.schedule(afterNanoseconds: Self.recordIntervalNanoseconds) { [weak self] in
            guard let self, !isStopping else { return }
            records.write()
            scheduleRecordWriting()
        }
    }
}

/// Draws how long each answer takes.
struct LatencySource {
    private let latency: ServingConfiguration.Latency
    private var random: SplitMix

    /// Starts a source; each loop has its own stream of random numbers.
    init(_ latency: ServingConfiguration.Latency, loopIndex: Int) {
        self.latency = latency
        if case .uniform(_, let seed) = latency {
            random = SplitMix(seed: seed &+ UInt64(loopIndex))
        } else {
            random = SplitMix(seed: 0)
        }
    }

    /// The latency of the next answer, in nanoseconds.
    mutating func nextNanoseconds() -> UInt64 {
        switch latency {
        case .none: return 0
        case .fixed(let milliseconds): return UInt64(max(0, milliseconds)) * 1_000_000
        case .uniform(let range, _):
            let lower = UInt64(max(0, range.lowerBound)) * 1_000_000
            let upper = UInt64(max(0, range.upperBound)) * 1_000_000
            return lower + random.next() % (upper - lower + 1)
        }
    }
}
