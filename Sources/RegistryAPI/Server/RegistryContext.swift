import JSON
import PushCore

/// What routes work with on the registry's thread.
final class RegistryContext {
    /// Devices, subscriptions, tokens and the configurations of identity pools.
    let registry: any ServedRegistry
    /// Reads bodies; each is read before the next.
    let parser = JSONParser(depthMaximum: 32, bytesMaximum: RegistryServer.bodyBytesMaximum)
    /// Where failures of ours are told.
    let logger: Logger
    private let clock: () -> Int64

    init(registry: any ServedRegistry, logger: Logger, nowMilliseconds: @escaping () -> Int64) {
        self.registry = registry
        self.logger = logger
        clock = nowMilliseconds
    }

    /// The time, in milliseconds since 1970.
    var nowMilliseconds: Int64 { clock() }

    /// Tells the operator what a client is not told; what is the client's own fault is not worth a line.
    func reportFailure(_ error: RegistryError) {
        guard error.code != .notFound, error.code != .invalid else { return }
        logger.log(
            .error, "registry.request.failed",
            [.field("code", error.code.rawValue), .field("reason", error.message)])
    }
}
