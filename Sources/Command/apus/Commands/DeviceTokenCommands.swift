/// The group `apus device token`.
enum DeviceTokenCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "token",
        summary: "Give devices their tokens for VoIP, Live Activities, widgets and the like",
        discussion: """
            A device's own token is for pushes of the types alert and background. iOS hands out
            another token for each further kind: \(DeviceTokenOptions.kinds.prefix(4).joined(separator: ", ")),
            \(DeviceTokenOptions.kinds.dropFirst(4).joined(separator: ", ")). A push of such a
            type goes to the device's token of that kind, and to no device that has none. The
            token of a Live Activity that is running is not registered: name it in the event.
            """,
        nodes: [.command(DeviceTokenAddCommand()), .command(DeviceTokenRemoveCommand())]
    )
}
