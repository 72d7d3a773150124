import Essentials
import Messages

@testable import APNsTransport
@testable import ChangeEvents
@testable import ConnectionPool
@testable import DispatchCore
@testable import Notifications
@testable import RegistryCore
@testable import ServiceClient

/// A push service that does what an input chooses, around the state machines of deliveries and of connections.
///
/// It has no threads and clocks, and keeps books of its own. After the last choice it answers in order.
struct PushServiceWorld: ~Copyable {
    /// One connection as the push service sees it.
    private struct Peer {
        var isReady = false
        /// Whether it is known to take no new pushes.
        var isLeaving = false
        var hasProvenToken = false
        var hasAccepted = false
        var owesPing = false
        var streamsMaximum = 0
        var windowBytes = 0
        var nextStream: Int32 = 1
        /// The pool's slot of the push on each stream.
        var open: [Int32: Int] = [:]
    }

    /// A push that was given to the pool and has not ended.
    private struct Attempt {
        let request: PushRequest
        /// Whether the push service may be processing it.
        var isInFlight = false
    }

    private static let beganMilliseconds: Int64 = 1_700_000_000_000
    private static let delaysMilliseconds: [Int64] = [1_000, 60_000, 900_000]
    private static let deliveriesMaximum = 6
    private static let devicesMaximum = 32
    /// How many steps all may take to end once the push service behaves.
    private static let stepsToEndMaximum = 20_000

    private var input: FuzzInput
    private let answers: [PartialAnswer]
    private let parser = AnswerParser()
    private var pool: ConnectionPool
    private var machine: DispatchStateMachine
    private let machineLimits: DispatchLimits
    private var actions = DispatchActions()
    private var nanoseconds: UInt64 = 1_000
    private var peers: [Int: Peer] = [:]
    private var attempts: [Int: Attempt] = [:]
    /// The pushes that the machine has out.
    private var out: Set<UInt64> = []
    private var owed: Set<DeliveryTag> = []
    private var deliveryCount = 0
    private var answerCount = 0
    private var endedCount = 0
    private var submissionsToFail = 0

    private var milliseconds: Int64 { Self.beganMilliseconds + Int64(nanoseconds / 1_000_000) }
    private var now: Moment {
        Moment(wall: WallTime(milliseconds: milliseconds), monotonic: MonotonicTime(nanoseconds: nanoseconds))
    }

    /// Makes a world whose bounds are choices.
    ///
    /// - Parameters:
    ///   - answers: the answers of the push service; at least one.
    ///   - input: the choices.
    init(answers: [PartialAnswer], _ input: FuzzInput) {
        var input = input
        let headers = EventFuzzTarget.headers(&input)
        var limits = PoolLimits()
        limits.connections = input.choice([1, 0, 2])
        limits.connectionsMaximum = input.choice([2, 0, 1, 4])
        limits.streamsMaximum = input.choice([1_000, 1, 2])
        limits.outstandingMaximum = input.choice([65_536, 1, 3])
        limits.endsWaitingOnUnusableEndpoint = input.choice([false, true])
        pool = ConnectionPool(limits: limits, seed: 7)
        var machineLimits = DispatchLimits()
        machineLimits.pushesInFlightMaximum = input.choice([4_096, 1, 3])
        machineLimits.devicesPerRequeuedMessageMaximum = input.choice([200, 1])
        self.machineLimits = machineLimits
        machine = DispatchStateMachine(
            appCount: 1,
            policy: RetryPolicy(
                delaysMilliseconds: Self.delaysMilliseconds, attemptsMaximum: 3, ageMaximumMilliseconds: 3_600_000,
                serverErrorDelayMilliseconds: 900_000),
            queues: DispatchQueues(
                retry: Dictionary(uniqueKeysWithValues: Self.delaysMilliseconds.map { ($0, "retry.\($0)") }),
                fanout: "fanout", deadLetter: "dead"), limits: machineLimits)
        self.answers = answers
        self.input = input
        deliver(headers)
    }

    /// Lets everything happen, until each delivery has ended.
    mutating func run() throws(FuzzFailure) {
        try perform(pool.start(nowNanoseconds: nanoseconds))
        try pump()
        var stepsToEnd = 0
        while !owed.isEmpty || !input.isUsedUp {
            if input.isUsedUp { stepsToEnd += 1 }
            try promise(stepsToEnd < Self.stepsToEndMaximum, "deliveries never end: \(owed)")
            try step()
            try pump()
            try check()
        }
        try perform(pool.closeNow(nowNanoseconds: nanoseconds))
        try check()
        try promise(pool.isFinished && peers.isEmpty, "the pool does not finish")
        try promise(machine.jobCount == 0 && machine.pushesInFlight == 0, "something is left of the deliveries")
        try promise(machine.pushCounts.allSatisfy { $0.isBalanced && $0.inFlight == 0 }, "\(machine.pushCounts)")
    }

    // MARK: Events

    private mutating func step() throws(FuzzFailure) {
        switch input.byte() % 16 {
        case 1: try answerAny()
        case 2: try resetAny()
        case 3: try goAway()
        case 4: try loseConnection()
        case 5: try makeReady()
        case 6: changeSettings()
        case 7: changeWindow()
        case 8: acknowledgePing(anyPeer { $0.owesPing })
        case 9, 10: try passTime()
        case 11: try replaceKey()
        case 12: submissionsToFail = Int(input.byte() % 8)
        case 13 where deliveryCount < Self.deliveriesMaximum: deliver(EventFuzzTarget.headers(&input))
        case 14: machine.routeChanged(0, isReachable: input.choice([true, false]))
        case 15: try close()
        default: try behave()
        }
    }

    /// Does what a push service does that works.
    private mutating func behave() throws(FuzzFailure) {
        if let number = first({ !$0.isReady }) {
            try ready(number, streamsMaximum: 1_000, windowBytes: 65_535)
        } else if let number = first({ !$0.open.isEmpty }), let stream = peers[number]?.open.keys.min() {
            answerCount += 1
            try answer(answers[(answerCount - 1) % answers.count], number, stream)
        } else if let number = first({ $0.owesPing }) {
            acknowledgePing(number)
        } else if machine.isBulkPaced {
            nanoseconds += 1_000_000
        } else {
            try timePasses(to: max(nanoseconds + 1, pool.wakeUpNanoseconds ?? 0))
        }
    }

    private mutating func deliver(_ headers: [MessageHeader]) {
        deliveryCount += 1
        let deliveryClass = input.choice([DeliveryClass.interactive, .bulk])
        let delivery = Delivery(
            tag: DeliveryTag(epoch: 1, number: UInt64(deliveryCount)), deliveryClass: deliveryClass,
            isRedelivered: false, exchange: "",
            routingKey: "test", message: Message(headers: headers, body: Array("{}".utf8)))
        let app = AppRoute(
            index: 0, name: "chat", bundleID: "com.example.chat", productionRoute: 0, sandboxRoute: 1, courierRoute: 2)
        let content = PushContent(
            payload: Array(repeating: UInt8(ascii: " "), count: input.choice([2, 4_096])), topic: "com.example.chat",
            pushType: .alert, priority: .immediate, expirationSeconds: nil, collapseID: nil)
        let devices = answers.prefix(Self.devicesMaximum).indices.compactMap { index in
            DeviceToken(bytes: Array("token \(index)".utf8)).map { token in
                Recipient(deviceID: "device-\(index)", platform: .apns, token: token, app: "chat")
            }
        }
        owed.insert(delivery.tag)
        machine.jobArrived(
            DispatchJob(
                tags: [delivery.tag], deliveryClass: deliveryClass, message: delivery.message,
                retryState: RetryState(of: delivery, nowMilliseconds: milliseconds),
                identity: PushIdentity(source: "fuzz", identifier: "\(deliveryCount)"),
                renderings: [AppRendering(app: app, content: content)], devices: devices), into: &actions)
    }

    /// The first connection of a kind.
    private func first(_ isWanted: (Peer) -> Bool) -> Int? {
        peers.filter { isWanted($0.value) }.keys.min()
    }

    /// One of the connections of a kind.
    private mutating func anyPeer(_ isWanted: (Peer) -> Bool) -> Int? {
        let numbers = peers.filter { isWanted($0.value) }.keys.sorted()
        return numbers.isEmpty ? nil : input.choice(numbers)
    }

    /// One of the streams of any connection.
    private mutating func anyStream() -> (number: Int, stream: Int32)? {
        guard let number = anyPeer({ !$0.open.isEmpty }), let streams = peers[number]?.open.keys.sorted() else {
            return nil
        }
        return (number, input.choice(streams))
    }

    private mutating func answerAny() throws(FuzzFailure) {
        guard let (number, stream) = anyStream() else { return }
        try answer(input.choice(answers), number, stream)
    }

    /// A stream ended; what follows is `Route`'s part.
    private mutating func answer(_ partial: PartialAnswer, _ number: Int, _ stream: Int32) throws(FuzzFailure) {
        guard partial.hasFinalStatus else { return try reset(number, stream, errorCode: 0) }
        guard let slot = peers[number]?.open.removeValue(forKey: stream) else { return }
        let answer = parser.answer(
            status: partial.status, body: partial.body, retryAfterSeconds: partial.retryAfterSeconds)
        let meaning = AnswerMeaning(ofAPNs: answer)
        var isWaiting = false
        if meaning.contains(.connectionWedged), peers[number]?.hasProvenToken == true || input.byte() > 127 {
            isWaiting = pool.answeredUnprocessed(stream: stream, of: number, nowNanoseconds: nanoseconds)
            if isWaiting { attempts[slot]?.isInFlight = false }
            peers[number]?.isLeaving = true
            try perform(pool.tokenExpired(on: number, nowNanoseconds: nanoseconds))
        } else if meaning.contains(.shutdownAnnounced) {
            isWaiting = pool.answeredUnprocessed(stream: stream, of: number, nowNanoseconds: nanoseconds)
            if isWaiting { attempts[slot]?.isInFlight = false }
            try replaceFaulty(number)
        }
        if !isWaiting { try end(answer, slot, number, stream) }
        if meaning.contains(.connectionSuspect), peers[number]?.hasAccepted == true { try replaceFaulty(number) }
    }

    private mutating func end(
        _ answer: PushAnswer, _ slot: Int, _ number: Int, _ stream: Int32
    ) throws(FuzzFailure) {
        if answer.status == 200 { peers[number]?.hasAccepted = true }
        let provesToken = !AnswerMeaning(ofAPNs: answer).contains(.authorizationRefused)
        if provesToken { peers[number]?.hasProvenToken = true }
        let ended = pool.answered(
            stream: stream, of: number, provesToken: provesToken, nowNanoseconds: nanoseconds)
        guard let ended, ended.push == slot else {
            throw FuzzFailure("the answer on stream \(stream) of connection \(number) goes astray")
        }
        try end(slot, .answered(answer), durationNanoseconds: nanoseconds - ended.submittedNanoseconds)
        if ended.isLastOfDraining, let close = pool.connectionToClose(after: number) { try perform([close]) }
    }

    private mutating func replaceFaulty(_ number: Int) throws(FuzzFailure) {
        peers[number]?.isLeaving = true
        try perform(pool.connectionFaulty(number, nowNanoseconds: nanoseconds))
    }

    private mutating func resetAny() throws(FuzzFailure) {
        guard let (number, stream) = anyStream() else { return }
        try reset(number, stream, errorCode: input.choice([7, 0, 2, 8, 11, .max]))
    }

    private mutating func reset(_ number: Int, _ stream: Int32, errorCode: UInt32) throws(FuzzFailure) {
        guard let slot = peers[number]?.open.removeValue(forKey: stream) else { return }
        if errorCode == ConnectionPool.refusedStream { attempts[slot]?.isInFlight = false }
        try perform(
            pool.streamReset(stream: stream, of: number, errorCode: errorCode, nowNanoseconds: nanoseconds))
    }

    private mutating func goAway() throws(FuzzFailure) {
        guard let number = anyPeer({ $0.isReady }), let peer = peers[number] else { return }
        let last = lastStream(of: peer)
        peers[number]?.isLeaving = true
        forget(number, above: last)
        try perform(pool.goAwayReceived(number, lastStream: last, nowNanoseconds: nanoseconds))
    }

    /// A connection ends, or cannot be made.
    private mutating func loseConnection() throws(FuzzFailure) {
        guard let number = anyPeer({ _ in true }), let peer = peers[number] else { return }
        let last = peer.isReady ? lastStream(of: peer) : 0
        forget(number, above: last)
        peers[number] = nil
        try perform(
            pool.connectionLost(
                number, lastWrittenStream: last, isEndpointUnusable: !peer.isReady && input.byte() > 127,
                nowNanoseconds: nanoseconds))
    }

    private mutating func lastStream(of peer: Peer) -> Int32 {
        input.choice([.max, 0, max(0, peer.nextStream - 2), 1] + peer.open.keys.sorted())
    }

    /// The pushes on later streams were certainly not processed.
    private mutating func forget(_ number: Int, above last: Int32) {
        for (stream, slot) in peers[number]?.open ?? [:] where stream > last {
            attempts[slot]?.isInFlight = false
            peers[number]?.open[stream] = nil
        }
    }

    private mutating func makeReady() throws(FuzzFailure) {
        guard let number = anyPeer({ !$0.isReady }) else { return }
        try ready(
            number, streamsMaximum: input.choice([1, 0, 2, 1_000, Int(UInt32.max)]),
            windowBytes: input.choice([65_535, 0, 3, 4_096, -1]))
    }

    private mutating func ready(_ number: Int, streamsMaximum: Int, windowBytes: Int) throws(FuzzFailure) {
        peers[number]?.isReady = true
        peers[number]?.streamsMaximum = streamsMaximum
        peers[number]?.windowBytes = windowBytes
        try perform(
            pool.connectionReady(
                number, streamsMaximum: streamsMaximum, windowBytes: windowBytes, nowNanoseconds: nanoseconds))
    }

    private mutating func changeSettings() {
        guard let number = anyPeer({ $0.isReady }) else { return }
        let maximum = input.choice([1, 0, 2, 1_000, Int(UInt32.max)])
        peers[number]?.streamsMaximum = maximum
        pool.settingsChanged(number, streamsMaximum: maximum, nowNanoseconds: nanoseconds)
    }

    private mutating func changeWindow() {
        guard let number = anyPeer({ $0.isReady }) else { return }
        let bytes = input.choice([65_535, 0, 3, 4_096, -1])
        peers[number]?.windowBytes = bytes
        pool.windowChanged(number, windowBytes: bytes)
    }

    private mutating func acknowledgePing(_ number: Int?) {
        guard let number else { return }
        peers[number]?.owesPing = false
        pool.pingAcknowledged(number, nowNanoseconds: nanoseconds)
    }

    private mutating func replaceKey() throws(FuzzFailure) {
        for (number, peer) in peers where peer.isReady { peers[number]?.isLeaving = true }
        try perform(pool.keyReplaced(nowNanoseconds: nanoseconds))
    }

    private mutating func close() throws(FuzzFailure) {
        try perform(
            input.byte() > 127
                ? pool.closeNow(nowNanoseconds: nanoseconds) : pool.close(nowNanoseconds: nanoseconds))
    }

    private mutating func passTime() throws(FuzzFailure) {
        let steps: [UInt64] = [
            1_000_000, 50_000_000, 1_000_000_000, 5_000_000_000, 15_000_000_000, 20_000_000_000, 60_000_000_000,
            300_000_000_000,
        ]
        try timePasses(to: nanoseconds + input.choice(steps))
    }

    private mutating func timePasses(to moment: UInt64) throws(FuzzFailure) {
        nanoseconds = moment
        // A submitted push may make something else due at once, such as a window that is too small for the next.
        for _ in 0..<4 {
            guard let due = pool.wakeUpNanoseconds, due <= nanoseconds else { return }
            try perform(pool.timePassed(nowNanoseconds: nanoseconds))
            try pump()
        }
        try promise(pool.wakeUpNanoseconds.map { $0 > nanoseconds } ?? true, "the timer of the pool would spin")
    }

    // MARK: Actions of the machines

    /// Carries on between the machine and the pool until neither wants anything more.
    private mutating func pump() throws(FuzzFailure) {
        var isQuiet = false
        while !isQuiet {
            machine.sendWaiting(at: now, into: &actions)
            let wanted = actions
            actions = DispatchActions()
            let endedBefore = endedCount
            for request in wanted.sends { try send(request) }
            for publish in wanted.publishes { machine.publishEnded(publish.identifier, .confirmed, into: &actions) }
            if let broken = machine.checkInvariants().first { throw FuzzFailure(broken) }
            for tag in wanted.settles {
                try promise(owed.remove(tag) != nil, "delivery \(tag) is settled twice")
            }
            try promise(wanted.rejections.isEmpty, "a delivery is rejected, although each copy was taken")
            try submit()
            isQuiet =
                wanted.sends.isEmpty && wanted.publishes.isEmpty && wanted.settles.isEmpty && endedCount == endedBefore
        }
    }

    private mutating func send(_ request: PushRequest) throws(FuzzFailure) {
        try promise(out.insert(request.identifier).inserted, "push \(request.identifier) is sent while it is out")
        let slot = pool.pushArrived(bodyBytes: request.content.payload.count, nowNanoseconds: nanoseconds)
        guard let slot else {
            try promise(
                pool.isClosing || attempts.count >= pool.limits.outstandingMaximum, "a pool with room refuses a push")
            return try report(request, .notProcessed("refused"), durationNanoseconds: 0)
        }
        try promise(attempts[slot] == nil, "slot \(slot) is given out twice")
        try promise(slot < pool.limits.outstandingMaximum, "slot \(slot) is beyond the limit")
        attempts[slot] = Attempt(request: request)
    }

    private mutating func submit() throws(FuzzFailure) {
        while let submission = pool.nextSubmission(nowNanoseconds: nanoseconds) {
            guard let peer = peers[submission.connection], let attempt = attempts[submission.push] else {
                throw FuzzFailure("\(submission) is for nobody")
            }
            if submissionsToFail > 0 {
                submissionsToFail -= 1
                peers[submission.connection]?.isLeaving = true
                try perform(pool.submissionFailed(submission, nowNanoseconds: nanoseconds))
                continue
            }
            let bytes = attempt.request.content.payload.count
            let streamsMaximum = min(peer.streamsMaximum, pool.limits.streamsMaximum, peer.hasProvenToken ? .max : 1)
            try promise(
                peer.isReady && !peer.isLeaving && !peer.owesPing && !attempt.isInFlight
                    && bytes <= peer.windowBytes && peer.open.count < streamsMaximum,
                "\(submission) goes where it must not: \(peer)")
            peers[submission.connection]?.open[peer.nextStream] = submission.push
            peers[submission.connection]?.nextStream += 2
            peers[submission.connection]?.windowBytes -= bytes
            attempts[submission.push]?.isInFlight = true
            pool.submitted(submission, stream: peer.nextStream, nowNanoseconds: nanoseconds)
        }
        try perform(pool.submissionsEnded(nowNanoseconds: nanoseconds))
    }

    private mutating func perform(_ actions: [PoolAction]) throws(FuzzFailure) {
        for action in actions {
            switch action {
            case .connect(let number):
                try promise(peers.updateValue(Peer(), forKey: number) == nil, "connection \(number) is made twice")
            case .close(let number):
                let peer = peers.removeValue(forKey: number)
                let isInUse = peer?.open.values.contains { attempts[$0]?.isInFlight == true } ?? false
                try promise(!isInUse, "connection \(number) is closed with pushes on it")
            case .abandon(let number): peers[number] = nil
            case .ping(let number):
                try promise(peers[number]?.owesPing == false, "connection \(number) gets a PING too many")
                peers[number]?.owesPing = true
            case .cancel(let number, let stream):
                let slot = peers[number]?.open.removeValue(forKey: stream)
                try promise(slot != nil, "stream \(stream) of connection \(number) is cancelled, and is not open")
            case .end(let slot, .notProcessed(let cause)):
                try end(slot, .notProcessed("\(cause)"), durationNanoseconds: 0)
            case .end(let slot, .ambiguous(let cause)):
                try end(slot, .ambiguous("\(cause)"), durationNanoseconds: 0)
            }
        }
    }

    /// A push that the pool knew ended.
    private mutating func end(
        _ slot: Int, _ outcome: AttemptOutcome, durationNanoseconds: UInt64
    ) throws(FuzzFailure) {
        guard let attempt = attempts.removeValue(forKey: slot) else {
            throw FuzzFailure("slot \(slot) ends as \(outcome), and holds no push")
        }
        var isSaidToBeProcessed = true
        if case .notProcessed = outcome { isSaidToBeProcessed = false }
        try promise(
            attempt.isInFlight == isSaidToBeProcessed,
            "a push that \(attempt.isInFlight ? "may have been" : "was not") processed ends as \(outcome)")
        try report(attempt.request, outcome, durationNanoseconds: durationNanoseconds)
    }

    private mutating func report(
        _ request: PushRequest, _ outcome: AttemptOutcome, durationNanoseconds: UInt64
    ) throws(FuzzFailure) {
        try promise(out.remove(request.identifier) != nil, "push \(request.identifier) ends twice")
        endedCount += 1
        let place = actions.sends.count
        machine.pushEnded(
            AttemptResult(identifier: request.identifier, outcome: outcome, durationNanoseconds: durationNanoseconds),
            at: now, into: &actions)
        for again in actions.sends[place...] where again.identifier == request.identifier {
            try promise(
                again.apnsID == request.apnsID && again.token == request.token,
                "push \(request.identifier) is sent again as another one")
        }
    }

    // MARK: The books

    private func check() throws(FuzzFailure) {
        let states = pool.states
        let live = states.connecting + states.proving + states.open
        let inFlight = attempts.values.count { $0.isInFlight }
        try promise(
            machine.pushesInFlight == out.count && out.count == attempts.count,
            "the machine has \(machine.pushesInFlight) pushes out, of which the pool has \(attempts.count)")
        try promise(
            pool.inFlightCount == inFlight && pool.waitingCount == attempts.count - inFlight,
            "the pool counts \(pool.waitingCount) waiting and \(pool.inFlightCount) in flight of \(attempts.count)")
        try promise(
            pool.inFlightCount == peers.values.reduce(0) { $0 + $1.open.count }, "the pool has lost sight of a stream")
        try promise(pool.connectionCount == peers.count, "the pool has lost sight of a connection")
        let limits = pool.limits
        try promise(
            live <= max(1, limits.connections, limits.connectionsMaximum) && states.draining <= pool.inFlightCount
                && attempts.count <= limits.outstandingMaximum
                && out.count <= 2 * machineLimits.pushesInFlightMaximum,
            "too much: \(states), \(attempts.count) pushes")
        try promise(machine.jobCount == owed.count, "\(machine.jobCount) jobs for \(owed.count) deliveries")
        try promise(machine.pushCounts.allSatisfy(\.isBalanced), "the books do not balance: \(machine.pushCounts)")
    }
}
