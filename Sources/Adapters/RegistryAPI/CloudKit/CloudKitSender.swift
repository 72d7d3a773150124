import PushCore

/// Who sends a request of the CloudKit dialect: the holder of a token, or of a server key.
struct CloudKitSender: Sendable {
    /// The only app that it may use; nil for all.
    let app: String?
    /// On whose behalf all its requests are; nil if each says so itself.
    let userID: String?

    init(_ token: APIToken) {
        app = token.app
        userID = nil
    }

    init(_ key: ServerKey) {
        app = key.app
        userID = key.userID
    }
}
