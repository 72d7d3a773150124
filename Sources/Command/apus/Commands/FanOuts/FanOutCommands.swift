import Dispatcher
import PushCore

/// The group `apus fanout`.
enum FanOutCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "fanout",
        summary: "List, show and cancel large fan-outs",
        discussion: """
            An event to more devices than 'fanout.threshold_devices' is split into chunks, which all
            workers serve. The registry records the progress of each.
            """,
        nodes: [
            .command(FanOutListCommand()),
            .command(FanOutShowCommand()),
            .command(FanOutCancelCommand()),
        ]
    )

    /// Opens the registry that the configuration names and does something with its fan-outs.
    ///
    /// - Parameters:
    ///   - invocation: the use of a command that lists `CommandOption.configuration` among its options.
    ///   - mode: what may be done with the registry.
    ///   - body: what to do.
    /// - Throws: `CommandFailure` for what the registry cannot do, and what `body` throws.
    static func use(
        _ invocation: CommandInvocation, mode: RegistryOpenMode, _ body: (any FanOutRegistry) throws -> Void
    ) throws {
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        try DeviceRegistry.rephrasing { try body(try configuration.registry.open(mode: mode)) }
    }
}
