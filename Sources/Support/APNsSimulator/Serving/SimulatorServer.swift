import Crypto
import EventLoop
import Glibc
import HTTP2
import Notifications

/// The part of the simulator that lives on one loop: judges requests, and gives the answers when their time has come.
final class SimulatorServer {
    /// How long records wait for the file at most, in nanoseconds.
    private static let recordIntervalNanoseconds: UInt64 = 100_000_000
    /// How many requests' memory is kept for use by later ones.
    private static let spareRequestsMaximum = 4_096

    let configuration: SimulatorConfiguration
    let loop: EventLoop
    let ledger: AnswerLog
    let catalog: AnswerCatalog

    let faults: FaultBook
    private let tls: TLSContext
    private let foreignTLS: TLSContext
    private let rules: RequestRules
    var verifier: ProviderTokenVerifier
    let channelRules: ChannelRules
    private var latency: LatencySource
    private var random = SystemRandomNumberGenerator()
    private var delayed = DelayedAnswers()
    private var delayTimer: (timer: EventLoop.Timer, dueNanoseconds: UInt64)?
    private var nextSequence: UInt64 = 0
    private var spareRequests: [RequestState] = []
    private var connections: [ObjectIdentifier: SimulatorConnection] = [:]
    private var listener: TCPListener?
    private var headers = HeaderBlock()
    private var isStopping = false

    init(parts: SimulatorParts, loop: EventLoop, loopIndex: Int) {
        configuration = parts.configuration
        self.loop = loop
        tls = parts.tls
        foreignTLS = parts.foreignTLS
        faults = parts.faults
        channelRules = ChannelRules(store: parts.channels, bundleIDs: parts.configuration.bundleIDs)
        rules = RequestRules(bundleIdentifiers: parts.configuration.bundleIDs)
        verifier = ProviderTokenVerifier(keys: parts.keys)
        catalog = AnswerCatalog(script: parts.configuration.script)
        latency = LatencySource(parts.configuration.latency, loopIndex: loopIndex)
        ledger = AnswerLog(
            configuration: parts.configuration, answerCount: catalog.answers.count, file: parts.recordFile,
            identifiers: parts.identifiers, progress: parts.progress)
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
    func serve(_ socket: Int32) {
        guard !isStopping, connections.count < configuration.connectionsMaximum else {
            ledger.summary.connectionsRefused += 1
            SocketCloser.close(socket)
            return
        }
        let (number, connectionFaults) = faults.connectionCame()
        let connection = SimulatorConnection(server: self, number: number)
        ledger.summary.connections += 1
        var socket = socket
        var context = tls
        var window: (bytes: Int, addedBytes: Int, everyMilliseconds: Int)?
        for fault in connectionFaults {
            switch fault {
            case .wire(let wire):
                guard let end = FaultyWire.insert(before: socket, wire, loop: loop) else { return }
                socket = end
            case .window(let bytes, let added, let every): window = (bytes, added, every)
            case .foreignCertificate: context = foreignTLS
            default: break
            }
        }
        do {
            try connection.start(socket: socket, tls: context, window: window)
            connections[ObjectIdentifier(connection)] = connection
        } catch {
            ledger.summary.connectionsFailed += 1
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
        ledger.writeRecords()
    }

    // MARK: Requests

    /// Takes the memory for a new request.
    func takeRequest(stream: Int32) -> RequestState {
        let request = spareRequests.popLast() ?? RequestState()
        request.begin(stream: stream)
        return request
    }

    /// Gives the memory of a request back.
    func giveBack(_ request: RequestState) {
        request.generation += 1
        if spareRequests.count < Self.spareRequestsMaximum { spareRequests.append(request) }
    }

    /// Decides about a request that has come completely.
    func requestCompleted(_ request: RequestState, on connection: SimulatorConnection) {
        let fault = faults.isActive ? self.fault(of: request, on: connection, isRejected: false) : nil
        if connection.isWedged || fault != nil, befall(fault, request, on: connection) { return }
        guard !configuration.isTrusting else {
            return answer(request, on: connection, index: AnswerCatalog.accepted, delayNanoseconds: 0)
        }
        if answerAboutChannels(request, on: connection) { return }
        let (rejection, step) = request.head.withFields { fields in
            let rejection = rules.rejection(fields: fields, body: request.body) {
                connection.authenticate(fields, verifier: &verifier)
            }
            guard rejection == nil, let digits = fields.deviceTokenDigits else { return (rejection, ScriptStep?.none) }
            let step = configuration.script.nextStep(forTokenDigits: digits)
            if let kind = step?.kind, kind != RequestRules.kind(ofTopic: fields[.topic]) {
                return (.deviceTokenNotForTopic, nil)
            }
            return (nil, step)
        }
        if let rejection {
            return answer(request, on: connection, index: catalog.index(of: rejection), delayNanoseconds: 0)
        }
        request.isPayloadChecked = true
        guard let step else {
            return answer(request, on: connection, index: AnswerCatalog.accepted, delayNanoseconds: 0)
        }
        guard let scripted = step.answer else {
            ledger.summary.silent += 1
            return
        }
        answer(
            request, on: connection, index: catalog.index(of: scripted),
            delayNanoseconds: UInt64(step.delayMilliseconds) * 1_000_000)
    }

    private func answer(
        _ request: RequestState, on connection: SimulatorConnection, index: Int, delayNanoseconds: UInt64
    ) {
        let delay = delayNanoseconds + request.extraDelayNanoseconds + latency.nextNanoseconds()
        guard delay > 0 else { return give(index, to: request, on: connection) }
        nextSequence += 1
        delayed.insert(
            DelayedAnswer(
                dueNanoseconds: loop.nowNanoseconds + delay, sequence: nextSequence, connection: connection,
                request: request, generation: request.generation, answerIndex: index))
        armDelayTimer()
    }

    private func give(_ index: Int, to request: RequestState, on connection: SimulatorConnection) {
        let prepared = catalog.answers[index]
        request.head.withFields { fields in
            withIdentifierText(for: fields) { identifier in
                headers.removeAll()
                headers.add(":status", value: prepared.status)
                headers.add("apns-id", value: identifier, indexing: .neverAdd)
                if !prepared.body.isEmpty { headers.add("content-type", value: "application/json") }
                guard connection.respond(to: request, headers, body: prepared.body) else { return }
                ledger.answered(
                    prepared, index: index, request: request, fields: fields, identifierText: identifier)
                if faults.isActive, prepared.answer.status != 200,
                    let fault = fault(of: request, on: connection, isRejected: true)
                {
                    _ = befall(fault, request, on: connection)
                }
            }
        }
    }

    /// Lends out the request's own `apns-id`, or a new one if it has none that could be used.
    func withIdentifierText(for fields: RequestFields, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if let own = fields[.identifier], fields.identifier != nil || configuration.isTrusting { return body(own) }
        // A random UUID of version 4 (RFC 9562, section 5.4).
        let identifier = APNsIdentifier(
            high: random.next() & ~0xF000 | 0x4000, low: random.next() & ~(0b11 << 62) | 0b10 << 62)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: APNsIdentifier.textLength) { buffer in
            identifier.write(to: buffer)
            body(UnsafeBufferPointer(buffer))
        }
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
            give(answer.answerIndex, to: answer.request, on: answer.connection)
        }
        armDelayTimer()
    }

    private func scheduleRecordWriting() {
        guard configuration.writesRecords else { return }
        loop.schedule(afterNanoseconds: Self.recordIntervalNanoseconds) { [weak self] in
            guard let self, !isStopping else { return }
            ledger.writeRecords()
            scheduleRecordWriting()
        }
    }

    /// Answers a request about broadcast channels.
    ///
    /// - Returns: false if it is about something else.
    func answerAboutChannels(_ request: RequestState, on connection: SimulatorConnection) -> Bool {
        let answer: ChannelAnswer? = request.head.withFields { fields in
            guard let path = fields[.path], ChannelRules.isAboutChannels(path) else { return nil }
            if let rejection = connection.authenticate(fields, verifier: &verifier) {
                return ChannelAnswer(rejection.status, reason: rejection.rawValue)
            }
            func text(_ field: RequestField) -> String? { fields[field].map { String(decoding: $0, as: UTF8.self) } }
            return channelRules.answer(
                ChannelRules.Request(
                    method: text(.method) ?? "", path: text(.path) ?? "", channel: text(.channelIdentifier),
                    pushType: text(.pushType), priority: text(.priority), expiration: text(.expiration),
                    body: request.body.bytes))
        }
        guard let answer else { return false }
        var headers = HeaderBlock()
        headers.add(":status", value: String(answer.status))
        if let channel = answer.channel { headers.add("apns-channel-id", value: channel, indexing: .neverAdd) }
        _ = connection.respond(to: request, headers, body: answer.body)
        return true
    }
}

/// The common state of a simulator's loops.
struct SimulatorParts: Sendable {
    let configuration: SimulatorConfiguration
    let tls: TLSContext
    let keys: [String: (teamID: String, key: ES256PublicKey)]
    let recordFile: RecordFile?
    let identifiers: AcceptedIdentifiers
    let progress: SimulatorProgress
    let faults: FaultBook
    let channels = ChannelStore()
    /// The certificate for another name, for connections that are to be shown it.
    let foreignTLS: TLSContext
}

/// Closes a socket by the system call, whose name is also that of many methods.
enum SocketCloser {
    static func close(_ socket: Int32) { _ = Glibc.close(socket) }
}
