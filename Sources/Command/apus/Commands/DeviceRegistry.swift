import Dispatcher
import RegistryCore
import WorkerConfiguration

/// How the commands come to the registry, and what its errors mean for the exit code.
enum DeviceRegistry {
    /// The codes with which a command can end because of the registry.
    static let exitCodes: [ExitCode] = [.data, .unavailable, .inputOutput, .noPermission, .configuration]

    /// Opens the registry that the configuration names and does something with it.
    ///
    /// - Parameters:
    ///   - invocation: the use of a command that lists `CommandOption.configuration` among its options.
    ///   - mode: the access to the file.
    ///   - quotas: the quotas; nil for those of the configuration.
    ///   - body: the work.
    /// - Returns: the result of `body`.
    /// - Throws: `CommandFailure` for a failure of the registry, and the errors of `body`.
    static func use<Value>(
        _ invocation: CommandInvocation, mode: RegistryOpenMode, quotas: RegistryQuotas? = nil,
        _ body: (any RegistryStore, Configuration) throws -> Value
    ) throws -> Value {
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        return try rephrasing {
            let quotas = quotas ?? configuration.registryAPI.quotas
            return try body(try configuration.registry.open(mode: mode, quotas: quotas), configuration)
        }
    }

    /// Runs `body` and reports a failure of the registry as a failure of the command.
    static func rephrasing<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as RegistryError {
            throw CommandFailure(exitCode(error.code), error.message)
        }
    }

    /// Warns of an app that the configuration does not have, because no worker would push to its devices.
    static func warnUnlessConfigured(_ apps: some Sequence<String>, _ configuration: Configuration) {
        for app in Set(apps).sorted() where !configuration.apps.contains(where: { $0.name == app }) {
            StandardError.line("warning: the configuration has no [[app]] named \"\(app)\": no worker sends its pushes")
        }
    }

    /// The exit code for a kind of failure of the registry.
    static func exitCode(_ code: RegistryError.Code) -> ExitCode {
        switch code {
        case .unavailable, .corrupt: .unavailable
        case .readOnly: .noPermission
        case .newerSchema, .olderSchema: .configuration
        case .notFound, .invalid, .quotaExceeded: .data
        case .failed: .inputOutput
        }
    }
}
