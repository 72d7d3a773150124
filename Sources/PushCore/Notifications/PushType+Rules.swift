/// What APNs demands of each push type.
///
/// Source: Apple, "Sending notification requests to APNs" (push types, topics, priorities) and "Generating a remote
/// notification" (payload sizes).
extension PushType {
    /// What follows the bundle identifier in the header `apns-topic`; empty for the types that use it alone.
    ///
    /// For `mdm` the whole topic is the UID attribute of the push certificate, which then stands in the configuration
    /// in place of a bundle identifier.
    public var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
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
