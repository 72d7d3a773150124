import Notifications

/// The option that the commands about further tokens share.
enum DeviceTokenOptions {
    static let kind = CommandOption.value(
        "kind", "KIND", "The push type that the token is for: \(kinds.joined(separator: ", ")).", isRequired: true)

    /// The names of the kinds.
    static let kinds = TokenKind.further.map(\.rawValue)

    /// Reads a kind of token that a device has beside its own.
    static func kind(_ invocation: CommandInvocation) throws(CommandFailure) -> TokenKind {
        let name = try invocation.required(kind)
        guard let kind = TokenKind(rawValue: name), kind != .alert else {
            let alert = "'apus device add' sets the alert token"
            throw .usage("--kind takes one of \(kinds.joined(separator: ", ")), not '\(name)'; \(alert)")
        }
        return kind
    }

    /// Reads hexadecimal digits.
    static func token(_ digits: String) throws(CommandFailure) -> DeviceToken {
        guard let token = DeviceToken(hexadecimal: digits) else {
            throw .usage("--token is invalid: it must be \(DeviceToken.requirement(brokenBy: digits))")
        }
        return token
    }
}
