/// The rights that an access token gives.
struct FCMGrant: Sendable {
    /// The scopes with which messages may be sent.
    private static let sendingScopes: Set<String> = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
        "https://www.googleapis.com/auth/firebase",
    ]
    private static let scopePrefix = "https://www.googleapis.com/auth/"

    /// The account that the token belongs to.
    let account: String
    let scopes: [String]

    /// Whether messages may be sent with it.
    var allowsSending: Bool { scopes.contains(where: Self.sendingScopes.contains) }

    /// Whether a scope is one of Google's, as far as its form says.
    static func isScope(_ scope: String) -> Bool {
        scope.hasPrefix(scopePrefix) && scope.utf8.count > scopePrefix.utf8.count
            && scope.utf8.dropFirst(scopePrefix.utf8.count).allSatisfy { byte in
                (97...122).contains(byte) || "._-".utf8.contains(byte)
            }
    }
}
