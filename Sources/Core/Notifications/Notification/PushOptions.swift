/// How a push is to be sent, as its event asks; nil where the event leaves it to us.
public struct PushOptions: Hashable, Sendable {
    /// The kind; decided from the content if nil.
    public var pushType: PushType?
    /// The priority; decided from the kind if nil.
    public var priority: PushPriority?
    /// The time at which the push expires, in seconds since 1970; 0 is "now or never".
    public var expirationSeconds: Int64?
    /// Pushes with the same identifier replace each other on the device; at most 64 bytes.
    public var collapseID: String?
    /// The identifier of a push whose event has no collapse identifier; at most 64 bytes.
    ///
    /// A push service replaces the first copy of the push by it. FCM gets it as a tag only, because FCM keeps few
    /// collapse keys of a device.
    public var replacementID: String?

    /// Creates options.
    public init(
        pushType: PushType? = nil, priority: PushPriority? = nil, expirationSeconds: Int64? = nil,
        collapseID: String? = nil, replacementID: String? = nil
    ) {
        self.pushType = pushType
        self.priority = priority
        self.expirationSeconds = expirationSeconds
        self.collapseID = collapseID
        self.replacementID = replacementID
    }

    /// The collapse identifier of the event, or the identifier of the push.
    var collapseOrReplacementID: String? { collapseID ?? replacementID }
}

/// How eagerly a device is to be woken: the values of the header `apns-priority`.
public enum PushPriority: Int, CaseIterable, Sendable {
    /// At once.
    case immediate = 10
    /// When it suits the device's power.
    case conserving = 5
    /// Never wakes the device.
    case passive = 1
}

/// The push type: the values of the header `apns-push-type`.
///
/// Source: Apple, "Sending notification requests to APNs".
public enum PushType: String, CaseIterable, Sendable {
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

/// The requirements of APNs for each push type.
///
/// Source: Apple, "Sending notification requests to APNs" (push types, topics, priorities) and "Generating a remote
/// notification" (payload sizes).
extension PushType {
    /// The kind of token that such a push goes to.
    ///
    /// For `mdm` the topic is the UID attribute of the push certificate, which then stands in the configuration in
    /// place of a bundle identifier. So the one kind of token of such an app is its alert token.
    public var tokenKind: TokenKind {
        switch self {
        case .alert, .background, .mdm: .alert
        case .complication: .complication
        case .controls: .controls
        case .fileprovider: .fileprovider
        case .liveactivity: .liveactivity
        case .location: .location
        case .pushtotalk: .pushtotalk
        case .voip: .voip
        case .widgets: .widgets
        }
    }

    /// The priority of a push whose event asks for none: 5 for `background`, else APNs' own default, 10.
    public var defaultPriority: PushPriority { self == .background ? .conserving : .immediate }

    /// The priorities that APNs takes for this type: only 5 for `background` (10 "is an error"), 5 or 10 for
    /// `liveactivity` and `location`, any for the others.
    public var allowedPriorities: [PushPriority] {
        switch self {
        case .background: [.conserving]
        case .liveactivity, .location: [.immediate, .conserving]
        case .alert, .complication, .controls, .fileprovider, .mdm, .pushtotalk, .voip, .widgets:
            PushPriority.allCases
        }
    }

    /// The largest payload, in bytes of JSON: 5120 for `voip`, 4096 for the others.
    public var payloadBytesMaximum: Int { self == .voip ? 5_120 : 4_096 }
}
