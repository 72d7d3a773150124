import PostgresRegistry
import RegistryCore
import SQLiteRegistry
import StructuredLogging
import WorkerConfiguration

extension Configuration {
    /// Makes the registry if there is none, and says in the log what an operator should know of it.
    ///
    /// Called once, before a process uses the registry.
    ///
    /// - Parameter logger: where.
    /// - Throws: `WorkerError` if the registry cannot be used.
    func prepareRegistry(_ logger: Logger) throws(WorkerError) {
        do {
            let (isNew, store) = try registry.open(
                mode: .create, sqlite: { ($0.isNew, $0 as any SchemaRegistry) }, postgres: { ($0.isNew, $0) })
            if isNew {
                let advice = "Devices register from now on. If some did before, registry.url or the volume is wrong."
                logger.log(
                    .warning, "registry.created", [.field("registry", store.location), .field("advice", advice)])
            }
            if let reason = try store.schemaWarning() {
                logger.log(.warning, "registry.migration.waiting", [.field("reason", reason)])
            }
        } catch {
            throw WorkerError(starting: error)
        }
        for reason in registry.modeWarnings { logger.log(.warning, "registry.mode.loose", [.field("reason", reason)]) }
    }
}
