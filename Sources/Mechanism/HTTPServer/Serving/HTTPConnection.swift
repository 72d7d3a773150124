import Crypto
import EventLoop

/// One connection of a client: carries bytes between its socket and its machine; lives on the server's loop.
final class HTTPConnection {
    /// How often a connection is read before the others have their turn.
    private static let readsPerTurnMaximum = 4

    let identifier: UInt64
    let address: ClientAddress
    private unowned let core: HTTPServerCore
    private var transport: HTTPTransport
    private var machine: HTTPConnectionMachine
    private var registration: EventLoop.Registration?
    private var interest: ReadyEvents = []
    private var due: [HTTPConnectionMachine.Action] = []
    private var isPerforming = false
    private var isReadDue = false
    private var output: [UInt8] = []
    private var sentBytes = 0
    private var readiness = HTTPReadiness()
    private var hasPeerClosed = false
    /// How much memory the server has counted for this connection.
    private var counted = HTTPServerMemory()
    /// The request that somebody else answers.
    private(set) var exchange: HTTPExchange?
    /// Whether a request has come whose answer has not left.
    private(set) var isBusy = false

    init(
        identifier: UInt64, address: ClientAddress, core: HTTPServerCore, transport: HTTPTransport
    ) {
        self.identifier = identifier
        self.address = address
        self.core = core
        self.transport = transport
        machine = HTTPConnectionMachine(
            configuration: core.configuration, peer: address, isTrustedProxy: core.isTrustedProxy(address),
            nowNanoseconds: core.nowNanoseconds)
    }

    var hasServed: Bool { machine.hasServed }
    /// The received part of the present request's head.
    var head: HTTPRequestHead { machine.head }
    var phase: HTTPConnectionMachine.Phase { machine.phase }
    var phaseBeganNanoseconds: UInt64 { machine.phaseBeganNanoseconds }

    /// Begins to watch the socket.
    func start(_ socket: Int32) throws(EventLoopError) {
        interest = .readable
        registration = try core.loop.register(socket, for: interest) { [weak self] events in self?.ready(events) }
    }

    // MARK: Events

    /// The deadline may have passed.
    func checkDeadline() {
        guard let deadline = machine.deadlineNanoseconds, deadline <= core.nowNanoseconds else { return }
        perform(machine.expired(nowNanoseconds: core.nowNanoseconds))
    }

    /// Ends to free its slot for another connection, or because the server stops.
    func close() { perform(machine.close()) }

    /// The request cannot be served.
    func refuse(_ refusal: HTTPRefusal) { perform(machine.refuse(refusal, nowNanoseconds: core.nowNanoseconds)) }

    /// An answer has come for what somebody else was asked.
    func ended(_ exchange: HTTPExchange, with answer: HTTPExchange.Answer) {
        guard self.exchange === exchange else { return }
        self.exchange = nil
        switch answer {
        case .response(let response): respond(response, closes: false)
        case .admitted(let bytesMaximum): admit(bytesMaximum)
        }
    }

    private func ready(_ events: ReadyEvents) {
        let hasUnwanted = !interest.intersection(events).isSubset(of: readiness.events)
        if events.contains(.peerClosed), !hasPeerClosed {
            hasPeerClosed = true
            exchange?.abandon()
        }
        if !events.isDisjoint(with: [.error, .hangUp]), !machine.wantsInput { return close() }
        if readiness.writeIsBlocked || readiness.writeWantsRead { flush() }
        read()
        watch(narrowing: hasUnwanted)
        count()
    }

    // MARK: Reading

    private func read() {
        guard registration != nil else { return }
        readiness.readWantsWrite = false
        // An endless sender takes turns with the other connections.
        for _ in 0..<Self.readsPerTurnMaximum where machine.wantsInput && output.isEmpty {
            switch transport.read(into: core.readBuffer) {
            case .bytes(let count):
                let bytes = UnsafeRawBufferPointer(rebasing: core.readBuffer[..<count])
                perform(machine.received(bytes, nowNanoseconds: core.nowNanoseconds))
            case .wantsRead: return
            case .wantsWrite:
                readiness.readWantsWrite = true
                return
            case .closed: return perform(machine.inputEnded())
            }
        }
        readPending()
    }

    /// Reads the bytes that the TLS session has buffered, at the end of the tick.
    ///
    /// The socket does not become readable for them.
    private func readPending() {
        guard machine.wantsInput, output.isEmpty, transport.hasPendingInput, !isReadDue else { return }
        isReadDue = true
        core.loop.atEndOfTick { [weak self] in
            self?.isReadDue = false
            self?.read()
            self?.watch()
        }
    }

    // MARK: Acting

    /// Performs actions in order; actions that follow from one come after those that are due already.
    private func perform(_ actions: [HTTPConnectionMachine.Action]) {
        due += actions
        // Requests that were sent ahead must not make the stack deeper, each by some calls.
        guard !isPerforming else { return }
        isPerforming = true
        while !due.isEmpty { carryOut(due.removeFirst()) }
        isPerforming = false
        watch()
        count()
    }

    private func carryOut(_ action: HTTPConnectionMachine.Action) {
        switch action {
        case .admit(let request, let bodyBytes):
            begin()
            core.admit(request, bodyBytes: bodyBytes, on: self)
        case .answer(let request):
            begin()
            core.answer(request, on: self)
        case .refuse(let refusal):
            begin()
            respond(core.response(to: refusal, head: head), closes: true)
        case .send(let bytes):
            output += bytes
            flush()
        case .endOutput: transport.endOutput()
        case .close: release()
        }
    }

    /// Tells the server how much memory the connection holds.
    private func count() {
        let held = HTTPServerMemory(bodyBytes: machine.bodyBytes, answerBytes: output.count)
        guard held != counted else { return }
        // Counted first, because this connection may be the one to be closed.
        let before = counted
        counted = held
        core.memoryChanged(from: before, to: held)
    }

    private func begin() {
        guard !isBusy else { return }
        isBusy = true
        core.requestBegan()
    }

    private func end() {
        guard isBusy else { return }
        isBusy = false
        core.requestEnded()
    }

    /// Waits for somebody else's answer.
    func wait(for exchange: HTTPExchange) {
        self.exchange = exchange
        if hasPeerClosed { exchange.abandon() }
        watch()
    }

    /// Answers the request that waits.
    func respond(_ response: HTTPResponse, closes: Bool) {
        perform(
            machine.respond(
                response, closes: closes || core.isStopping, date: core.date(), nowNanoseconds: core.nowNanoseconds))
    }

    /// Lets the body of the request that waits come.
    func admit(_ bytesMaximum: Int) {
        perform(machine.admitted(bodyBytesMaximum: bytesMaximum, nowNanoseconds: core.nowNanoseconds))
        readPending()
    }

    // MARK: Writing

    private func flush() {
        readiness.writeIsBlocked = false
        readiness.writeWantsRead = false
        guard registration != nil else { return }
        while sentBytes < output.count {
            let transfer = output.withUnsafeBytes {
                transport.write(UnsafeRawBufferPointer(rebasing: $0[sentBytes...]))
            }
            switch transfer {
            case .bytes(let count): sentBytes += count
            case .wantsRead:
                readiness.writeWantsRead = true
                return
            case .wantsWrite:
                readiness.writeIsBlocked = true
                return
            case .closed: return close()
            }
        }
        output = []
        sentBytes = 0
        guard machine.phase == .sending else { return }
        end()
        perform(machine.sent(nowNanoseconds: core.nowNanoseconds))
        readPending()
    }

    /// Updates the events that the loop waits for.
    ///
    /// An event that is not wanted any more is waited for until it comes: most often none comes before the answer has
    /// left, and each change is a system call.
    ///
    /// - Parameter isNarrowing: whether one has come.
    private func watch(narrowing isNarrowing: Bool = false) {
        guard let registration else { return }
        readiness.wantsInput = machine.wantsInput && output.isEmpty
        readiness.watchesPeer = exchange != nil && !hasPeerClosed
        let wanted = isNarrowing ? readiness.events : interest.union(readiness.events)
        guard wanted != interest else { return }
        interest = wanted
        core.loop.modify(registration, for: wanted)
    }

    private func release() {
        due = []
        guard let registration else { return }
        self.registration = nil
        core.loop.deregister(registration)
        exchange?.abandon()
        exchange = nil
        output = []
        sentBytes = 0
        end()
        count()
        transport.close()
        core.closed(self)
    }
}

/// The wants of a connection, and the readiness of its socket that they need.
///
/// `epoll` reports an event again and again until the connection acts on it, or does not ask for it any more.
struct HTTPReadiness {
    /// The client's bytes are wanted, and no output has to be sent first.
    var wantsInput = false
    /// Bytes wait that the socket did not take.
    var writeIsBlocked = false
    /// TLS has to send something before it reads on.
    var readWantsWrite = false
    /// TLS has to read something before it sends on.
    var writeWantsRead = false
    /// Whether the end of the client's side is reported.
    var watchesPeer = false

    /// The events to ask for.
    var events: ReadyEvents {
        var events: ReadyEvents = []
        if wantsInput && !readWantsWrite || writeWantsRead { events.insert(.readable) }
        if writeIsBlocked || readWantsWrite { events.insert(.writable) }
        if watchesPeer { events.insert(.peerClosed) }
        return events
    }
}
