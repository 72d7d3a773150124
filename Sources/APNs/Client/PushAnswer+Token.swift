internal import PushCore

/// What an answer says about the provider token.
extension PushAnswer {
    /// Whether the peer has accepted our provider token: any answer does, but 403 with a reason about the token.
    var provesToken: Bool { !(status == 403 && (reason.hasSuffix("ProviderToken") || isAboutKeyID)) }

    /// Whether the connection has seen a token that makes it useless for others: a new connection is needed.
    var wedgesConnection: Bool { status == 403 && (reason == "ExpiredProviderToken" || isAboutKeyID) }

    private var isAboutKeyID: Bool { reason == "UnrelatedKeyIdInToken" || reason == "BadEnvironmentKeyIdInToken" }
}
