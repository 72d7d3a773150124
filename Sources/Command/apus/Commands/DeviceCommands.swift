/// The group `apus device`.
enum DeviceCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "device",
        summary: "Register, show, list, import and remove devices",
        discussion: """
            A device is one installation of an app. Its identifier is yours, or 'device add'
            creates one. Registering a device again renews its token and keeps its
            subscriptions. A token belongs to the device of the app that registered it last. A
            device may also have one token of each further kind ('apus device token').

            registry.url in the configuration names the registry. These commands may be used
            while workers run.
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
