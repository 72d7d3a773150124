import ConnectionPool
import Essentials
import PushTestKit

/// A world around a pool: peers that do anything they may, time that passes, and a ledger that every push is held
/// against.
struct PoolWorld: ~Copyable {
    enum Fate: Hashable {
        case waiting
        case inFlight
    }

    struct Peer {
        var isReady = false
        var isProven = false
        var isGoingAway = false
        var owesPing = false
        var streamsMaximum = 0
        var windowBytes = 0
        var nextStream: Int32 = 1
        var open: [Int32: Int] = [:]
    }

    var pool: ConnectionPool
    var random: SeededGenerator
    var now: UInt64 = 1_000
    var peers: [Int: Peer] = [:]
    /// The pushes that have not ended, by arrival.
    var fates: [Int: Fate] = [:]
    var arrivedCount = 0
    /// The size of each arrival's body.
    var sizes: [Int] = []
    /// Which arrival holds a slot.
    var arrivals: [Int: Int] = [:]
    var answeredCount = 0
    var notProcessedCount = 0
    var ambiguousCount = 0
    var faults: [String] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var limits = PoolLimits()
        limits.connections = Int.random(in: 1...4, using: &random)
        limits.connectionsMaximum = Int.random(in: 0...6, using: &random)
        if limits.connectionsMaximum > 0, Int.random(in: 0..<4, using: &random) == 0 { limits.connections = 0 }
        if Bool.random(using: &random) { limits.connectionsUnused = 1 }
        limits.tokenRefusalsMaximum = 2
        limits.pressureNanoseconds = 2_000
        limits.growthPatienceNanoseconds = 4_000
        limits.growthPauseNanoseconds = 10_000
        limits.shrinkIntervalNanoseconds = 15_000
        limits.starvationNanoseconds = 3_000
        limits.streamsMaximum = Int.random(in: 1...12, using: &random)
        limits.outstandingMaximum = 60
        limits.deadlineNanoseconds = 20_000
        limits.pingTimeoutNanoseconds = 5_000
        limits.idlePingNanoseconds = 50_000
        limits.connectTimeoutNanoseconds = 8_000
        limits.stableNanoseconds = 10_000
        limits.backOff = BackOff(baseNanoseconds: 200, capNanoseconds: 10_000)
        pool = ConnectionPool(limits: limits, seed: seed)
        perform(pool.start(nowNanoseconds: now))
    }

    // MARK: Events

    mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: arrive()
        case 30..<45: decideConnect()
        case 45..<75: answer()
        case 75..<80: reset()
        case 80..<83: changeSettings()
        case 83: openWindow()
        case 84: goAway()
        case 85..<87: loseConnection()
        case 87: Int.random(in: 0..<3, using: &random) == 0 ? replaceKey() : expireToken()
        case 88..<91: acknowledgePing()
        default: passTime()
        }
        pump()
        check()
        if Int.random(in: 0..<4, using: &random) == 0, pool.releaseMemory() != fates.isEmpty {
            faults.append("memory is given back exactly if no push is out")
        }
    }

    mutating func arrive() {
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let size = Int.random(in: 0...500, using: &random)
            guard let slot = pool.pushArrived(bodyBytes: size, nowNanoseconds: now) else { return }
            sizes.append(size)
            if arrivals[slot] != nil { faults.append("slot \(slot) was given out twice") }
            arrivals[slot] = arrivedCount
            fates[arrivedCount] = .waiting
            arrivedCount += 1
        }
    }

    private mutating func pick(_ isWanted: (Peer) -> Bool) -> Int? {
        peers.filter { isWanted($0.value) }.keys.sorted().randomElement(using: &random)
    }

    mutating func decideConnect() {
        guard let number = pick({ !$0.isReady }) else { return }
        if Bool.random(using: &random) {
            peers[number]?.isReady = true
            let maximum = Int.random(in: 0...16, using: &random)
            peers[number]?.streamsMaximum = maximum
            peers[number]?.windowBytes = 1_500
            perform(
                pool.connectionReady(number, streamsMaximum: maximum, windowBytes: 1_500, nowNanoseconds: now))
        } else {
            peers[number] = nil
            perform(pool.connectionLost(number, lastWrittenStream: 0, nowNanoseconds: now))
        }
    }

    private mutating func pickStream() -> (number: Int, stream: Int32)? {
        guard let number = pick({ !$0.open.isEmpty }),
            let stream = peers[number]?.open.keys.sorted().randomElement(using: &random)
        else { return nil }
        return (number, stream)
    }

    mutating func answer() {
        guard let (number, stream) = pickStream(), let arrival = peers[number]?.open.removeValue(forKey: stream) else {
            return
        }
        let proves = Int.random(in: 0..<20, using: &random) > 0
        if Int.random(in: 0..<20, using: &random) == 0,
            pool.answeredUnprocessed(stream: stream, of: number, nowNanoseconds: now)
        {
            fates[arrival] = .waiting
            if let close = pool.connectionToClose(after: number) { perform([close]) }
            return
        }
        if proves { peers[number]?.isProven = true }
        let answered = pool.answered(stream: stream, of: number, provesToken: proves, nowNanoseconds: now)
        guard let slot = answered?.push, arrivals[slot] == arrival else {
            return faults.append("an answer went astray")
        }
        end(slot, as: .inFlight)
        answeredCount += 1
        if let close = pool.connectionToClose(after: number) { perform([close]) }
    }

    mutating func reset() {
        guard let (number, stream) = pickStream(), let arrival = peers[number]?.open.removeValue(forKey: stream) else {
            return
        }
        let isRefused = Bool.random(using: &random)
        if isRefused { fates[arrival] = .waiting }
        perform(
            pool.streamReset(stream: stream, of: number, errorCode: isRefused ? 7 : 2, nowNanoseconds: now))
    }

    mutating func changeSettings() {
        guard let number = pick({ $0.isReady }) else { return }
        let maximum = Int.random(in: 0...16, using: &random)
        peers[number]?.streamsMaximum = maximum
        pool.settingsChanged(number, streamsMaximum: maximum, nowNanoseconds: now)
    }

    mutating func openWindow() {
        guard let number = pick({ $0.isReady }) else { return }
        peers[number]?.windowBytes += Int.random(in: 0...1_500, using: &random)
        pool.windowChanged(number, windowBytes: peers[number]?.windowBytes ?? 0)
    }

    mutating func goAway() {
        guard let number = pick({ $0.isReady }), let peer = peers[number] else { return }
        let last = Int32.random(in: 0...peer.nextStream, using: &random)
        forget(number) { $0 > last }
        peers[number]?.isGoingAway = true
        perform(pool.goAwayReceived(number, lastStream: last, nowNanoseconds: now))
    }

    mutating func loseConnection() {
        guard let number = pick({ $0.isReady }), let peer = peers[number] else { return }
        let lastWritten = Int32.random(in: 0...peer.nextStream, using: &random)
        forget(number) { $0 > lastWritten }
        peers[number] = nil
        perform(pool.connectionLost(number, lastWrittenStream: lastWritten, nowNanoseconds: now))
    }

    /// Pushes on these streams were not processed.
    private mutating func forget(_ number: Int, where isUnprocessed: (Int32) -> Bool) {
        for (stream, arrival) in peers[number]?.open ?? [:] where isUnprocessed(stream) {
            fates[arrival] = .waiting
            peers[number]?.open[stream] = nil
        }
    }

    mutating func expireToken() {
        guard let number = pick({ $0.isReady }) else { return }
        peers[number]?.isGoingAway = true
        if Bool.random(using: &random) {
            perform(pool.tokenExpired(on: number, nowNanoseconds: now))
        } else {
            perform(pool.connectionFaulty(number, nowNanoseconds: now))
        }
    }

    mutating func replaceKey() {
        for number in peers.keys where peers[number]?.isReady == true { peers[number]?.isGoingAway = true }
        perform(pool.keyReplaced(nowNanoseconds: now))
    }

    mutating func acknowledgePing() {
        guard let number = pick({ $0.owesPing }) else { return }
        peers[number]?.owesPing = false
        pool.pingAcknowledged(number, nowNanoseconds: now)
    }

    mutating func passTime() {
        now += UInt64.random(in: 1...3_000, using: &random)
        // A submitted push may make something else due at once, such as a window that is too small for the next.
        for _ in 0..<3 {
            guard let due = pool.wakeUpNanoseconds, due <= now else { return }
            perform(pool.timePassed(nowNanoseconds: now))
            pump()
        }
        if let next = pool.wakeUpNanoseconds, next <= now { faults.append("the timer would spin at \(now)") }
    }

    // MARK: Actions of the pool

    mutating func perform(_ actions: [PoolAction]) {
        for action in actions {
            switch action {
            case .connect(let number):
                if peers[number] != nil { faults.append("connection \(number) was asked for twice") }
                peers[number] = Peer()
            case .close(let number):
                // A connection that is of no use any more is closed without a GOAWAY of the peer.
                if let peer = peers.removeValue(forKey: number), !peer.open.isEmpty, !pool.isClosing {
                    faults.append("connection \(number) was closed with pushes on it")
                }
            case .abandon(let number):
                peers[number] = nil
            case .ping(let number):
                if peers[number]?.owesPing != false { faults.append("a PING too many on \(number)") }
                peers[number]?.owesPing = true
            case .cancel(let number, let stream):
                if peers[number]?.open.removeValue(forKey: stream) == nil { faults.append("cancelled a stranger") }
            case .end(let slot, .notProcessed):
                end(slot, as: .waiting)
                notProcessedCount += 1
            case .end(let slot, .ambiguous):
                end(slot, as: .inFlight)
                ambiguousCount += 1
            }
        }
    }

    mutating func end(_ slot: Int, as fate: Fate) {
        guard let arrival = arrivals.removeValue(forKey: slot) else {
            return faults.append("slot \(slot) ended without a push")
        }
        guard fates.removeValue(forKey: arrival) == fate else {
            return faults.append("push \(arrival) ended as if it were \(fate)")
        }
    }

    mutating func pump() {
        while let submission = pool.nextSubmission(nowNanoseconds: now) {
            guard let peer = peers[submission.connection], let arrival = arrivals[submission.push] else {
                return faults.append("submitted to nobody")
            }
            let maximum = min(peer.streamsMaximum, pool.limits.streamsMaximum)
            if !peer.isReady || peer.isGoingAway || peer.owesPing { faults.append("submitted where it must not") }
            if sizes[arrival] > peer.windowBytes { faults.append("beyond the window") }
            if peer.open.count >= (peer.isProven ? maximum : min(1, maximum)) { faults.append("too many streams") }
            if fates.lazy.filter({ $0.value == .waiting }).map(\.key).min() != arrival {
                faults.append("submitted out of order")
            }
            fates[arrival] = .inFlight
            peers[submission.connection]?.open[peer.nextStream] = arrival
            peers[submission.connection]?.nextStream += 2
            peers[submission.connection]?.windowBytes -= sizes[arrival]
            pool.submitted(submission, stream: peer.nextStream, nowNanoseconds: now)
        }
        perform(pool.submissionsEnded(nowNanoseconds: now))
    }

    mutating func check() {
        let states = pool.states
        let live = states.connecting + states.proving + states.open
        if live > max(1, pool.limits.connections, pool.limits.connectionsMaximum) {
            faults.append("\(live) connections at once")
        }
        if pool.waitingCount != fates.values.count(where: { $0 == .waiting }) {
            faults.append("the waiting are miscounted")
        }
        if pool.inFlightCount != peers.values.reduce(0, { $0 + $1.open.count }) { faults.append("streams leak") }
        if pool.connectionCount != peers.count { faults.append("connections leak") }
    }

    /// Ends the world: no push may be left.
    mutating func close() {
        perform(pool.close(nowNanoseconds: now))
        for _ in 0..<20 { answer() }
        perform(pool.closeNow(nowNanoseconds: now))
        if !pool.isFinished || !peers.isEmpty { faults.append("the pool did not finish") }
        if !fates.isEmpty { faults.append("a push never ended") }
        if answeredCount + notProcessedCount + ambiguousCount != arrivedCount { faults.append("the ledger is off") }
    }
}
