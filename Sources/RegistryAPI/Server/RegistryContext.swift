import EventLoop
import JSON
import PushCore

/// What routes work with on the registry's thread.
final class RegistryContext {
    /// How long a registry that failed is left alone before it is asked again.
    private static let probeIntervalNanoseconds: UInt64 = 1_000_000_000

    /// Devices, subscriptions, tokens and the configurations of identity pools.
    private let registry: any ServedRegistry
    /// Reads bodies; each is read before the next.
    let parser = JSONParser(depthMaximum: 32, bytesMaximum: RegistryServer.bodyBytesMaximum, roundsNumbers: true)
    /// Where failures of ours are told.
    private let logger: Logger
    /// The clients that wait for their notifications.
    let courier: CourierDesk
    private let health: RegistryHealth
    private let clock: () -> Int64
    private let loop: EventLoop
    private var isProbing = false

    init(
        loop: EventLoop, registry: any ServedRegistry, courier: CourierDesk, health: RegistryHealth, logger: Logger,
        nowMilliseconds: @escaping () -> Int64
    ) {
        self.loop = loop
        self.registry = registry
        self.courier = courier
        self.health = health
        self.logger = logger
        clock = nowMilliseconds
    }

    /// The time, in milliseconds since 1970.
    var nowMilliseconds: Int64 { clock() }

    /// Uses the registry, and tells the operator of failures that the client is told nothing of.
    ///
    /// What is the client's own fault is not worth a line.
    ///
    /// - Parameter body: what to do.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    func using<Value>(
        _ body: (any ServedRegistry) throws(RegistryError) -> Value
    ) throws(RegistryError) -> Value {
        do throws(RegistryError) {
            let value = try body(registry)
            health.succeeded()
            return value
        } catch {
            if error.code == .notFound || error.code == .invalid {
                health.succeeded()
            } else {
                health.failed(error)
                logger.log(
                    .error, "registry.request.failed",
                    [.field("code", error.code.rawValue), .field("reason", error.message)])
                scheduleProbe()
            }
            throw error
        }
    }

    /// Asks the registry until it answers again: who routes by `/readyz` sends no request that would find it out.
    private func scheduleProbe() {
        guard !isProbing else { return }
        isProbing = true
        loop.schedule(afterNanoseconds: Self.probeIntervalNanoseconds) { [weak self] in self?.probe() }
    }

    private func probe() {
        isProbing = false
        do throws(RegistryError) {
            // No token has an empty name, so this writes nothing, and fails where a write does.
            _ = try registry.removeToken(named: "")
            health.succeeded()
        } catch {
            guard error.code != .readOnly else { return health.succeeded() }
            health.failed(error)
            scheduleProbe()
        }
    }
}
