import JSON
import PushCore

/// What routes work with on the registry's thread.
final class RegistryContext {
    /// Devices, subscriptions, tokens and the configurations of identity pools.
    private let registry: any ServedRegistry
    /// Reads bodies; each is read before the next.
    let parser = JSONParser(depthMaximum: 32, bytesMaximum: RegistryServer.bodyBytesMaximum)
    /// Where failures of ours are told.
    private let logger: Logger
    /// The clients that wait for their notifications.
    let courier: CourierDesk
    private let health: RegistryHealth
    private let clock: () -> Int64

    init(
        registry: any ServedRegistry, courier: CourierDesk, health: RegistryHealth, logger: Logger,
        nowMilliseconds: @escaping () -> Int64
    ) {
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
            }
            throw error
        }
    }
}
