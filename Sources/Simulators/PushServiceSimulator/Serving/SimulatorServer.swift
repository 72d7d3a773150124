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
    private var delayed = DelayedAnswers()
    private var delayTimer: (timer: EventLoop.Timer, dueNanoseconds: UInt64)?
    private var nextSequence: UInt64 = 0
    private var spareRequests: [RequestState] = []
    private var connections: [ObjectIdentifier: SimulatorConnection] = [:]
    private var listener: TCPListener?
    private var isStopping = false

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
            SocketCloser.close(socket)
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
        delayed.removeAll()
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
        nextSequence += 1
        delayed.insert(
            DelayedAnswer(
                dueNanoseconds: loop.nowNanoseconds + delay, sequence: nextSequence, connection: connection,
                request: request, generation: request.generation, answerIndex: answer))
        armDelayTimer()
    }

    // MARK: Time

    private func armDelayTimer() {
        guard let due = delayed.nextDueNanoseconds else { return }
        if let delayTimer {
            guard due < delayTimer.dueNanoseconds else { return }
            loop.cancel(delayTimer.timer)
        }
        let now = MonotonicClock.nowNanoseconds()
        let timer = loop.schedule(afterNanoseconds: due > now ? due - now : 0) { [weak self] in self?.giveDueAnswers() }
        delayTimer = (timer, due)
    }

    private func giveDueAnswers() {
        delayTimer = nil
        let now = MonotonicClock.nowNanoseconds()
        while let answer = delayed.popDue(atNanoseconds: now) {
            guard answer.generation == answer.request.generation else { continue }
            answer.connection.give(answer.answerIndex, to: answer.request)
        }
        armDelayTimer()
    }

    private func scheduleRecordWriting() {
        guard records.writesLines else { return }
        loop.schedule(afterNanoseconds: Self.recordIntervalNanoseconds) { [weak self] in
            guard let self, !isStopping else { return }
            records.write()
            scheduleRecordWriting()
        }
    }
}
