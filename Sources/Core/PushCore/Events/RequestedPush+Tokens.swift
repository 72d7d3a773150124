public import Notifications

/// Which tokens of its target a push goes to.
extension RequestedPush {
    /// The type that the event asks for, or that its content makes.
    public var pushType: PushType { options.pushType ?? NotificationRules.pushType(of: notification) }

    /// The kind of token that it goes to.
    public var tokenKind: TokenKind { pushType.tokenKind }

    /// Checks that tokens of its target can be registered at all.
    ///
    /// The `liveactivity` token of a device starts activities; a running activity has a token of its own, which is
    /// known to the backend only (Apple, "Starting and updating Live Activities with ActivityKit push notifications").
    ///
    /// - Throws: `EventRejection` with `noToken`.
    public func checkTarget() throws(EventRejection) {
        guard pushType == .liveactivity, let event = notification.liveActivityEvent, event != .start else { return }
        if case .tokens = audience { return }
        throw EventRejection(
            .noToken,
            "data.\(targetName) reaches tokens that start a Live Activity, and notification.event is "
                + "\"\(event.rawValue)\"; send it to data.deviceTokens with the token of the activity itself")
    }

    /// Says that nothing of its target has a token that it could go to.
    public var withoutToken: EventRejection {
        let kind = tokenKind.rawValue
        if case .tokens = audience {
            return EventRejection(
                .noToken,
                "data.deviceTokens names only tokens that are registered as another kind, and APNs takes a "
                    + "\(pushType.rawValue) push for \(kind) tokens only; name those, or correct options.pushType")
        }
        return EventRejection(
            .noToken,
            "no device that data.\(targetName) reaches has a \(kind) token, and a \(pushType.rawValue) push goes to no "
                + "other; register them with PUT /v1/devices/DEVICE/tokens/\(kind) or 'apus device token add', or "
                + "correct options.pushType")
    }

    private var targetName: String {
        switch audience {
        case .devices: "deviceIds"
        case .identities: "identityIds"
        case .users: "userIds"
        case .topic: "topic"
        case .tokens, .dataset: "deviceTokens"
        }
    }
}
