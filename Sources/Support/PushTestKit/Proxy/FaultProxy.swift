import EventLoop

/// A proxy of ours between a client and a server on this machine, which does to their bytes what networks do.
///
/// It knows nothing of what it carries, but for the methods of AMQP if it is asked to read them: so a test can strike
/// between a publish and its confirm. What it does can be changed at any time: the *weather* holds for all bytes for as
/// long as it lasts, a *trap* strikes one connection once. Delays are drawn from a seed.
public final class FaultProxy: Sendable {
    /// Its port on 127.0.0.1.
    public let port: UInt16
    /// What it has seen and done so far.
    public let record: Watched<ProxyRecord>
    private let loop: EventLoop
    private let core: LoopBound<FaultProxyCore>

    private init(port: UInt16, record: Watched<ProxyRecord>, loop: EventLoop, core: LoopBound<FaultProxyCore>) {
        self.port = port
        self.record = record
        self.loop = loop
        self.core = core
    }

    /// Starts a proxy.
    ///
    /// - Parameters:
    ///   - serverPort: the port on 127.0.0.1 to connect to.
    ///   - readsAMQP: whether the connections are AMQP without TLS, and traps may name methods.
    ///   - seed: what the delays are drawn from.
    /// - Returns: the proxy, in calm weather.
    /// - Throws: `EventLoopError` if there is no thread or no port.
    public static func start(
        to serverPort: UInt16, readsAMQP: Bool = false, seed: UInt64 = 1
    ) async throws -> FaultProxy {
        let loop = try EventLoop(name: "fault-proxy")
        let record = Watched(ProxyRecord())
        let core = LoopBound(
            FaultProxyCore(loop: loop, serverPort: serverPort, readsAMQP: readsAMQP, seed: seed, record: record),
            to: loop)
        let port = try await loop.run { try core.value.listen() }
        return FaultProxy(port: port, record: record, loop: loop, core: core)
    }

    /// Changes what happens to all bytes, also of the connections that there are.
    ///
    /// What was under way arrives as it was to arrive. Connections whose bytes were swallowed are reset when their
    /// silence is over.
    public func setConditions(_ weather: ProxyConditions) async throws {
        try await loop.run { [core] in core.value.setConditions(weather) }
    }

    /// Sets a trap, which springs once.
    public func set(_ trap: FaultTrigger) async throws { try await loop.run { [core] in core.value.set(trap) } }

    /// Takes away the traps that have not sprung.
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func removeTriggers() async throws -> Int { try await loop.run { [core] in core.value.removeTriggers() } }

    /// Connects with another server from now on; the connections that there are stay.
    ///
    /// - Parameter serverPort: the port on 127.0.0.1.
    /// - Throws: `CancellationError` if the proxy has been stopped.
    public func redirect(to serverPort: UInt16) async throws {
        try await loop.run { [core] in core.value.serverPort = serverPort }
    }

    /// Resets every connection.
    public func resetAll() async throws { try await loop.run { [core] in core.value.resetAll() } }

    /// Waits until so many traps have sprung in all.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - deadlineSeconds: generous: it only ends a hang.
    /// - Returns: whether they have.
    public func waitForStrikes(_ count: Int, deadlineSeconds: Double = 300) async -> Bool {
        await record.wait(deadlineSeconds: deadlineSeconds) { $0.sprung.count >= count }
    }

    /// Closes everything.
    public func stop() async throws {
        try await loop.run { [core] in core.value.stop() }
        loop.stopAndJoin()
    }
}

/// What a proxy has seen and done so far.
public struct ProxyRecord: Hashable, Sendable {
    /// How many connections were made through it, those that it reset at once included.
    public var connectionCount = 0
    /// How many of them have ended.
    public var endedCount = 0
    /// The traps that have sprung, in their order.
    public var sprung: [FaultTrigger] = []

    /// Nothing yet.
    public init() {}
}

/// Which way bytes go through a proxy.
public enum ProxyDirection: String, Hashable, Sendable, CaseIterable {
    /// From the client to the server behind the proxy.
    case toServer
    /// From the server to the client.
    case toClient
}
