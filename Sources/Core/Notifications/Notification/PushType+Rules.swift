/// What APNs demands of each push type.
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
