internal import PushCore

/// What an answer says about the provider token and the device token.
extension PushAnswer {
    /// Whether the peer has accepted our provider token: any answer does, but 403 with a reason about the token.
    var provesToken: Bool { !(status == 403 && (reason.hasSuffix("ProviderToken") || isAboutKeyID)) }

    /// Whether the connection has seen a token that makes it useless for others: a new connection is needed.
    var wedgesConnection: Bool { status == 403 && (reason == "ExpiredProviderToken" || isAboutKeyID) }

    /// Whether the device token is to blame, so that the next push to it will likely be rejected, too.
    var blamesToken: Bool {
        switch status {
        case 400: reason == "BadDeviceToken" || reason == "DeviceTokenNotForTopic"
        case 410: true
        case 429: reason == "TooManyRequests"
        default: false
        }
    }

    private var isAboutKeyID: Bool { reason == "UnrelatedKeyIdInToken" || reason == "BadEnvironmentKeyIdInToken" }
}
