import PushTestKit
import Synchronization

extension Environment {
    /// The server behind a proxy, as the workers see it.
    enum ProxyTarget: Hashable, Sendable {
        case broker
        /// The broker, as the relays alone see it.
        case brokerOfRelays
        case service(ServiceKind)
        case registry
    }

    private static let strikeSeconds = 60.0

    /// Puts a proxy between the workers and something; for `prepare`.
    func putProxy(before target: ProxyTarget) async throws {
        let port: UInt16 =
            switch target {
            case .broker, .brokerOfRelays: try broker.port
            case .service(.webpush): try await startHTTPProxy()
            case .service(let kind): try service(kind).port
            case .registry: try database.port
            }
        let proxy = try await FaultProxy.start(
            to: port, readsAMQP: target == .broker || target == .brokerOfRelays, seed: seed)
        state.withLock { $0.proxies[target] = proxy }
        atEnd { try? await proxy.stop() }
        switch target {
        case .broker: addresses.brokerURLs = ["amqp://guest:guest@127.0.0.1:\(proxy.port)/"]
        case .brokerOfRelays: addresses.relayBrokerURL = "amqp://guest:guest@127.0.0.1:\(proxy.port)/"
        case .service(let kind): addresses.services[kind] = proxy.port
        case .registry:
            addresses.registryURL = addresses.registryURL.replacing(":\(port)/", with: ":\(proxy.port)/")
        }
    }

    /// The HTTP proxy by which workers reach browsers' services: an endpoint names its service's own host and port, so
    /// nothing else can stand before all of them.
    private func startHTTPProxy() async throws -> UInt16 {
        let proxy = try await ConnectProxy.start(.tunnel(authorization: nil))
        atEnd { try? await proxy.stop() }
        return proxy.port
    }

    /// The proxy before something.
    func proxy(_ target: ProxyTarget) throws -> FaultProxy {
        guard let proxy = state.withLock({ $0.proxies[target] }) else {
            throw EnvironmentFailure("no proxy before \(target)")
        }
        return proxy
    }

    /// A whole number that follows from the seed.
    func draw(_ range: ClosedRange<Int>) -> Int {
        state.withLock { Int.random(in: range, using: &$0.generator) }
    }

    /// Sets a trigger, waits until it has fired, and then until the workers are ready again.
    ///
    /// - Parameters:
    ///   - trigger: the trigger to wait for.
    ///   - target: the server behind the proxy.
    ///   - provoke: makes the workers do what fires it, if they do not by themselves.
    /// - Throws: `EnvironmentFailure` if nothing fired it, or the workers are not ready any more.
    func fire(
        _ trigger: FaultTrigger, _ target: ProxyTarget, provoke: (FaultProxy) async throws -> Void = { _ in }
    ) async throws {
        let proxy = try proxy(target)
        let count = proxy.record.value.fired.count
        try await proxy.set(trigger)
        try await provoke(proxy)
        guard await proxy.waitForStrikes(count + 1, deadlineSeconds: Self.strikeSeconds) else {
            try await proxy.removeTriggers()
            throw EnvironmentFailure("nothing fired the trigger \(trigger)")
        }
        try await waitUntilReady()
    }

    /// Changes what a proxy does to all bytes for some seconds, and then waits until the workers are ready.
    func holdConditions(_ conditions: ProxyConditions, _ target: ProxyTarget, seconds: Double) async throws {
        try await proxy(target).setConditions(conditions)
        try await Pause.seconds(seconds)
        try await proxy(target).setConditions(.calm)
        try await waitUntilReady()
    }
}
