internal import JSON
public import Notifications

extension RequestedPush {
    /// Reads the data of `push.requested`.
    init(_ data: FieldReader) throws(EventRejection) {
        try data.allowOnly(Self.members)
        let app = try data.requiredText("app", .app)
        var refused: RefusedTargets?
        let audience = try Self.audience(data, app: app, refused: &refused)
        guard let notification = try data.reader("notification") else {
            throw data.missing("notification", "an object that says what to show, for example {\"body\": \"Hello\"}")
        }
        self.init(
            app: app, audience: audience,
            notification: try Notification(notification),
            options: try data.reader("options").map { options throws(EventRejection) in try PushOptions(options) }
                ?? PushOptions(),
            campaign: try data.text("campaign", .campaign))
        self.refused = refused
        for (name, services) in Self.variantServices {
            guard let fields = try data.reader(name) else { continue }
            variants.append(try variant(fields, services))
        }
    }

    /// The members of the event that hold what differs, and for which push services; a client that fetches gets what an
    /// iPhone gets.
    private static let variantServices: [(StaticString, Set<PushService>)] = [
        ("apns", [.apns, .courier]), ("android", [.fcm, .adm]), ("webpush", [.webPush]),
    ]
    static let variantNames: [StaticString] = variantServices.map(\.0)
    static let variantMemberNames: [StaticString] = ["notification", "options"]
    private static let variantMembers = MemberNames(
        variantMemberNames, neighbors: [("data.notification", Notification.memberNames)])

    /// Reads what differs at some push services.
    private func variant(_ fields: FieldReader, _ services: Set<PushService>) throws(EventRejection) -> PushVariant {
        try fields.allowOnly(Self.variantMembers)
        var variant = PushVariant(services: services, notification: notification, options: options)
        if let changes = try fields.reader("notification") { try variant.notification.change(by: changes) }
        if let changes = try fields.reader("options") { try variant.options.change(by: changes) }
        let kind = (variant.options.pushType ?? NotificationRules.pushType(of: variant.notification)).tokenKind
        // Another kind of push would go to tokens that do not take it, and these would be called dead.
        guard kind == tokenKind else {
            throw EventRejection(
                .invalidField,
                "\(fields.path) makes a push to \(kind.rawValue) tokens, and the event is for \(tokenKind.rawValue) "
                    + "tokens; publish an event of its own for it")
        }
        return variant
    }

    private static let members = MemberNames(
        targets + ["app", "campaign", "notification", "options"] + variantNames,
        neighbors: [
            ("data.notification", Notification.memberNames), ("data.options", PushOptions.memberNames),
        ])

    static let targets: [StaticString] = ["deviceTokens", "deviceIds", "identityIds", "userIds", "topic"]

    private static func audience(
        _ data: FieldReader, app: String, refused: inout RefusedTargets?
    ) throws(EventRejection) -> Audience {
        let present = targets.filter { key in data.value(key) != nil }
        var listing: String { targets.map { key in "\(key)" }.joined(separator: ", ") }
        guard present.count <= 1 else {
            let names = present.map { key in "\(key)" }.joined(separator: ", ")
            throw EventRejection(
                .invalidField, "\(data.path) has several targets (\(names)); it must have one of \(listing)")
        }
        let limit = EventLimits.targetsMaximum
        func texts(_ key: StaticString, _ rule: TextRule) throws(EventRejection) -> [String] {
            try data.distinctTexts(key, rule, countMaximum: limit, refused: &refused)
        }
        if data.value("deviceTokens") != nil { return .tokens(try tokens(data, refused: &refused), app: app) }
        if data.value("deviceIds") != nil { return .devices(try texts("deviceIds", .name), app: app) }
        if data.value("identityIds") != nil { return .identities(try texts("identityIds", .identity), app: app) }
        if data.value("userIds") != nil { return .users(try texts("userIds", .name), app: app) }
        guard let topic = try data.text("topic", .name) else {
            throw EventRejection(.missingField, "\(data.path) has no target; it must have one of \(listing)")
        }
        return .topic(topic, app: app)
    }

    private static func tokens(
        _ data: FieldReader, refused: inout RefusedTargets?
    ) throws(EventRejection) -> [DeviceToken] {
        try data.distinct(
            "deviceTokens", "an array of strings", countMaximum: EventLimits.targetsMaximum, refused: &refused
        ) { value, path throws(EventRejection) in
            guard let digits = value.string else {
                throw FieldReader.invalid(path(), value, "a string, a device token in hexadecimal digits")
            }
            guard let token = DeviceToken(hexadecimal: digits) else {
                throw FieldReader.invalid(path(), value, DeviceToken.requirement(brokenBy: digits))
            }
            return token
        }
    }
}

extension PushOptions {
    /// Reads `options`.
    init(_ options: FieldReader) throws(EventRejection) {
        try options.allowOnly(Self.members)
        self.init(
            pushType: try options.choice("pushType", of: PushType.self),
            priority: try Self.priority(options),
            expirationSeconds: try options.moment("expiration"),
            collapseID: try options.text("collapseId", .collapseID))
    }

    /// Takes over what an object has for one push service.
    ///
    /// The push type decides which tokens are addressed, and the expiration how long the event is kept, so both are the
    /// event's.
    fileprivate mutating func change(by options: FieldReader) throws(EventRejection) {
        try options.allowOnly(Self.changeable)
        if options.object["priority"] != nil { priority = try Self.priority(options) }
        if options.object["collapseId"] != nil { collapseID = try options.text("collapseId", .collapseID) }
    }

    private static let changeable = MemberNames(
        ["priority", "collapseId"],
        advice: [
            "pushType": "it is the same for all push services: data.options.pushType",
            "expiration": "it is the same for all push services: data.options.expiration",
        ])

    static let memberNames: [StaticString] = ["pushType", "priority", "expiration", "collapseId"]

    private static let members = MemberNames(
        memberNames, advice: ["ttl": "options.expiration is the moment at which the push loses its use"],
        neighbors: [("data.notification", Notification.memberNames), ("data", RequestedPush.targets)])

    private static func priority(_ options: FieldReader) throws(EventRejection) -> PushPriority? {
        guard let value = options.value("priority") else { return nil }
        let expected = "10 (at once), 5 (when it suits the device's power) or 1 (never wakes the device)"
        guard let number = value.int64 else { throw options.invalid("priority", value, expected) }
        guard let priority = Int(exactly: number).flatMap(PushPriority.init(rawValue:)) else {
            throw FieldReader.invalid(options.path("priority"), found: String(number), expected)
        }
        return priority
    }
}

/// Which tokens of its target a push goes to.
extension RequestedPush {
    /// The type that the event asks for, or that its content makes.
    public var pushType: PushType { options.pushType ?? NotificationRules.pushType(of: notification) }

    /// The kind of token that it goes to.
    public var tokenKind: TokenKind { pushType.tokenKind }

    /// Checks that tokens of its target can be registered at all.
    ///
    /// The `liveactivity` token of a device starts activities. A running activity has a token of its own, which only
    /// the backend knows (Apple, "Starting and updating Live Activities with ActivityKit push notifications").
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
