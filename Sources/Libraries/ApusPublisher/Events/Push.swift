public import FoundationEssentials

/// A push that a backend requests by itself: the data of `push.requested`.
public struct Push: Hashable, Sendable {
    /// The devices that it goes to, 1 to 10 000 of a kind; for more of them publish several events.
    public enum Target: Hashable, Sendable {
        /// Devices by their APNs tokens, in hexadecimal digits.
        case deviceTokens([String])
        /// Devices by their identifiers in the registry.
        case devices([String])
        /// All devices of identities.
        case identities([String])
        /// All devices of users.
        case users([String])
        /// All devices that are subscribed to a topic.
        case topic(String)
    }

    /// The push type (Apple, "Sending notification requests to APNs").
    public enum Kind: String, CaseIterable, Sendable {
        /// Shows an alert, plays a sound or sets a badge.
        case alert
        /// Wakes the app without telling the person.
        case background
        /// Updates a watch complication.
        case complication
        /// Reloads a control.
        case controls
        /// Tells a file provider extension about changes.
        case fileprovider
        /// Starts, updates or ends a Live Activity.
        case liveactivity
        /// Asks for the location of the person.
        case location
        /// Talks to a managed device.
        case mdm
        /// Announces a Push-to-Talk transmission.
        case pushtotalk
        /// Announces an incoming call.
        case voip
        /// Reloads a widget.
        case widgets
    }

    /// How eagerly a device is to be woken.
    public enum Priority: Int, CaseIterable, Sendable {
        /// At once.
        case immediate = 10
        /// When it suits the device's power.
        case conserving = 5
        /// Never wakes the device.
        case passive = 1
    }

    /// The differences of a push at some push services; the rest is as for all.
    public struct Variant: Hashable, Sendable {
        /// The members of the notification that differ.
        public var notification: Notification
        /// The priority; nil is that for all.
        public var priority: Priority?
        /// The collapse identifier; nil is that for all.
        public var collapseID: String?

        /// Describes what differs.
        ///
        /// - Parameters:
        ///   - notification: the members that differ.
        ///   - priority: the priority.
        ///   - collapseID: the collapse identifier.
        public init(
            _ notification: Notification = Notification(), priority: Priority? = nil, collapseID: String? = nil
        ) {
            self.notification = notification
            self.priority = priority
            self.collapseID = collapseID
        }
    }

    /// The app, by its name in the worker's configuration.
    public var app: String
    /// The devices that it goes to.
    public var target: Target
    /// The content.
    public var notification: Notification
    /// The campaign that the push is counted for, 1 to 64 letters, digits, `.`, `-`, `_`; nil for none.
    public var campaign: String?
    /// The kind; nil lets the worker decide by the content.
    public var kind: Kind?
    /// The priority; nil is the default of the kind.
    public var priority: Priority?
    /// The moment at which the push loses its use, in whole seconds; nil lets the push services decide.
    public var expiration: Date?
    /// Pushes with the same identifier replace each other on a device; at most 64 bytes.
    public var collapseID: String?
    /// The differences for devices of Apple.
    public var apple: Variant?
    /// The differences for Android devices: FCM and ADM.
    public var android: Variant?
    /// The differences for browsers.
    public var browsers: Variant?

    /// Describes a push.
    ///
    /// - Parameters:
    ///   - app: the app, by its name in the worker's configuration.
    ///   - target: the devices that it goes to.
    ///   - notification: the content.
    public init(app: String, to target: Target, _ notification: Notification) {
        self.app = app
        self.target = target
        self.notification = notification
    }
}

// Writing the data of the event.
extension Push {
    func write(to data: inout EventWriter) {
        data.member("app", app)
        switch target {
        case .deviceTokens(let tokens): data.member("deviceTokens", tokens)
        case .devices(let devices): data.member("deviceIds", devices)
        case .identities(let identities): data.member("identityIds", identities)
        case .users(let users): data.member("userIds", users)
        case .topic(let topic): data.member("topic", topic)
        }
        data.member("campaign", campaign)
        data.member("notification") { notification.write(to: &$0) }
        data.member("options") { options in
            options.member("pushType", kind?.rawValue)
            options.member("priority", priority.map { Int64($0.rawValue) })
            options.member("expiration", expiration)
            options.member("collapseId", collapseID)
        }
        for (name, variant) in [("apns", apple), ("android", android), ("webpush", browsers)] as Variants {
            guard let variant else { continue }
            data.member(name) { variant.write(to: &$0) }
        }
    }

    private typealias Variants = [(name: StaticString, variant: Variant?)]
}

extension Push.Variant {
    fileprivate func write(to data: inout EventWriter) {
        data.member("notification") { notification.write(to: &$0) }
        data.member("options") { options in
            options.member("priority", priority.map { Int64($0.rawValue) })
            options.member("collapseId", collapseID)
        }
    }
}
