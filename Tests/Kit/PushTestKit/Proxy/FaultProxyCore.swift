import EventLoop
import Glibc

/// The part of a `FaultProxy` that lives on its loop.
final class FaultProxyCore {
    private struct SetFaultTrigger {
        let trigger: FaultTrigger
        var occurrencesLeft: Int
        /// The first connection that the trigger counts the bytes of.
        let firstLink: Int
    }

    let loop: EventLoop
    let readsAMQP: Bool
    var serverPort: UInt16
    private(set) var conditions = ProxyConditions.calm
    private let record: Watched<ProxyRecord>
    private var generator: SeededGenerator
    private var listener: TCPListener?
    private var links: [FaultProxyLink] = []
    private var ignored: [Int32] = []
    private var triggers: [SetFaultTrigger] = []
    private var nextLink = 0

    init(loop: EventLoop, serverPort: UInt16, readsAMQP: Bool, seed: UInt64, record: Watched<ProxyRecord>) {
        self.loop = loop
        self.serverPort = serverPort
        self.readsAMQP = readsAMQP
        self.record = record
        generator = SeededGenerator(seed: seed)
    }

    func listen() throws -> UInt16 {
        let listener = try TCPListener(host: "127.0.0.1", port: 0, loop: loop) { [unowned self] in welcome($0) }
        self.listener = listener
        return listener.port
    }

    private func welcome(_ client: Int32) {
        record.update { $0.connectionCount += 1 }
        defer { nextLink += 1 }
        let strike = fire { $0 == .connection }
        guard strike == nil, conditions.welcome != .reset else {
            Self.reset(client)
            return record.update { $0.endedCount += 1 }
        }
        guard conditions.welcome == .connect else { return ignored.append(client) }
        guard let link = FaultProxyLink(client: client, number: nextLink, core: self) else {
            Self.reset(client)
            return record.update { $0.endedCount += 1 }
        }
        links.append(link)
    }

    /// Closes a socket so that the peer sees a reset: without a linger time, unsent bytes are dropped.
    static func reset(_ descriptor: Int32) {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close(descriptor)
    }

    func ended(_ link: FaultProxyLink) {
        links.removeAll { $0 === link }
        record.update { $0.endedCount += 1 }
    }

    func setConditions(_ conditions: ProxyConditions) {
        self.conditions = conditions
        if conditions.welcome != .ignore {
            for descriptor in ignored { Self.reset(descriptor) }
            record.update { [count = ignored.count] in $0.endedCount += count }
            ignored = []
        }
        for link in links { link.conditionsChanged() }
    }

    func delayNanoseconds() -> UInt64 {
        conditions.delayMilliseconds.upperBound == 0
            ? 0 : UInt64.random(in: conditions.delayMilliseconds, using: &generator) * 1_000_000
    }

    // MARK: Triggers

    func set(_ trigger: FaultTrigger) {
        triggers.append(SetFaultTrigger(trigger: trigger, occurrencesLeft: trigger.occurrence, firstLink: nextLink))
    }

    func removeTriggers() -> Int {
        defer { triggers = [] }
        return triggers.count
    }

    /// After how many bytes a connection is to be struck in a direction, if it is.
    func byteLimit(_ direction: ProxyDirection, link number: Int) -> Int? {
        triggers.compactMap { set -> Int? in
            guard set.firstLink <= number, case .bytes(direction, let count) = set.trigger.event else { return nil }
            return count
        }.min()
    }

    /// Reports an event to the triggers; returns the strike on the connection.
    func fire(_ fires: (FaultTrigger.Event) -> Bool) -> FaultTrigger.Strike? {
        var strike: FaultTrigger.Strike?
        for index in triggers.indices where fires(triggers[index].trigger.event) {
            triggers[index].occurrencesLeft -= 1
            if triggers[index].occurrencesLeft == 0 {
                let trigger = triggers[index].trigger
                strike = trigger.strike
                record.update { $0.fired.append(trigger) }
            }
        }
        triggers.removeAll { $0.occurrencesLeft <= 0 }
        return strike
    }

    // MARK: The end

    func resetAll() { for link in links { link.reset() } }

    func stop() {
        listener?.close()
        listener = nil
        for descriptor in ignored { close(descriptor) }
        ignored = []
        resetAll()
    }
}
