import EventLoop

/// A proxy of ours between a client and a server on this machine, which does to their bytes what networks do.
///
/// It passes bytes of any protocol, but reads the methods of AMQP if asked to, so that a test can strike between a
/// publish and its confirm. Its behaviour can be changed at any time: the *conditions* hold for all bytes while they
/// last, a *trigger* strikes one connection once. Delays are drawn from a seed.
public final class FaultProxy: Sendable {
    /// Its port on 127.0.0.1.
    public let port: UInt16
    /// Its connections and strikes so far.
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
    ///   - readsAMQP: whether the connections are AMQP without TLS, and triggers may name methods.
    ///   - seed: the seed of the delays.
    /// - Returns: the proxy, without faults.
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

    /// Changes the conditions for all bytes, also of existing connections.
    ///
    /// Bytes under way arrive under the earlier conditions. Connections whose bytes were swallowed are reset when their
    /// silence is over.
    public func setConditions(_ conditions: ProxyConditions) async throws {
        try await loop.run { [core] in core.value.setConditions(conditions) }
    }

    /// Sets a trigger, which strikes once.
    public func set(_ trigger: FaultTrigger) async throws { try await loop.run { [core] in core.value.set(trigger) } }

    /// Removes the triggers that have not struck.
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

    /// Waits until so many triggers have struck in all.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - deadlineSeconds: generous: it only ends a hang.
    /// - Returns: whether they have.
    public func waitForStrikes(_ count: Int, deadlineSeconds: Double = 300) async -> Bool {
        await record.wait(deadlineSeconds: deadlineSeconds) { $0.fired.count >= count }
    }

    /// Closes everything.
    public func stop() async throws {
        try await loop.run { [core] in core.value.stop() }
        loop.stopAndJoin()
    }
}

/// The connections and strikes of a proxy so far.
public struct ProxyRecord: Hashable, Sendable {
    /// The number of connections through it, including those that it reset at once.
    public var connectionCount = 0
    /// How many of them have ended.
    public var endedCount = 0
    /// The triggers that have struck, in their order.
    public var fired: [FaultTrigger] = []

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
