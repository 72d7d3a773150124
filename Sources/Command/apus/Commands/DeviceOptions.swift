/// The options that several commands about devices share.
enum DeviceOptions {
    static let app = CommandOption.value("app", "NAME", "The app, by its name in the configuration.", isRequired: true)
    static let appFilter = CommandOption.value("app", "NAME", "Only devices of this app.")
    static let identityFilter = CommandOption.value("identity", "IDENTITY", "Only devices of this identity.")
    static let userFilter = CommandOption.value("user", "USER", "Only devices of this user.")
    static let showToken = CommandOption.flag("show-token", "Print whole tokens, with which pushes can be sent.")
}
