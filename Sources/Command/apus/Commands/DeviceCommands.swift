/// The group `apus device`.
enum DeviceCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "device",
        summary: "Register, show, list, import and remove devices",
        discussion: """
            A device is one installation of an app, known by an identifier that you choose or
            that 'device add' makes. Registering it again renews its token and keeps its
            subscriptions. A token belongs to one device of an app: whoever registers it last.
            Beside it a device may have a token of each further kind ('apus device token').

            The registry is the file that registry.url names in the configuration. These
            commands may be used while workers run.
            """,
        nodes: [
            .command(DeviceAddCommand()),
            .command(DeviceRemoveCommand()),
            .command(DeviceListCommand()),
            .command(DeviceShowCommand()),
            .command(DeviceImportCommand()),
            DeviceTokenCommands.node,
        ]
    )
}
