/// The group `apus device token`.
enum DeviceTokenCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "token",
        summary: "Register tokens for VoIP, Live Activities, widgets and other push types",
        discussion: """
            A device's own token is for pushes of the types alert and background. iOS provides a
            further token for each of these kinds: \(DeviceTokenOptions.kinds.prefix(4).joined(separator: ", ")),
            \(DeviceTokenOptions.kinds.dropFirst(4).joined(separator: ", ")). A push of such a
            type goes to the device's token of that kind; devices without one are skipped. The
            token of a running Live Activity is not registered: name it in the event.
            """,
        nodes: [.command(DeviceTokenAddCommand()), .command(DeviceTokenRemoveCommand())]
    )
}
