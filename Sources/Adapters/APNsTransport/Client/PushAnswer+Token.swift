import Notifications

/// What an answer says about the provider token, the device token and the connection.
extension PushAnswer {
    /// Whether the peer has accepted our provider token: any answer does, but 403 with a reason about the token.
    var provesToken: Bool { !(status == 403 && (reason.hasSuffix("ProviderToken") || isAboutKeyID)) }

    /// Whether the push was refused for what the connection has seen before, so that a new connection may be needed.
    ///
    /// A connection that has seen an expired token may refuse newer ones; one that has seen a token of one key refuses
    /// those of an unrelated key (Apple, "Handling notification responses from APNs").
    var wedgesConnection: Bool {
        status == 403 && (reason == "ExpiredProviderToken" || reason == "UnrelatedKeyIdInToken")
    }

    /// Whether the server is shutting down, and did not look at the push.
    var announcesShutdown: Bool { status == 503 && reason == "Shutdown" }

    /// Whether the connection is throttled because the provider token changed too often on it, whatever comes next.
    var throttlesConnection: Bool { status == 429 && reason == "TooManyProviderTokenUpdates" }

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
