/// The push services of the large browsers, each of which words its refusals in its own way.
enum WebPushVendor: Hashable, Sendable {
    /// Chrome and its relatives.
    case google
    /// Firefox.
    case mozilla
    /// Safari.
    case apple
    /// Edge on Windows.
    case microsoft
    /// Any other, for example a server of UnifiedPush.
    case other

    /// Recognizes the service of a host in small letters.
    init(host: String) {
        switch host {
        case "fcm.googleapis.com", "jmt17.google.com", "android.googleapis.com": self = .google
        case _ where host.hasSuffix(".push.services.mozilla.com"): self = .mozilla
        case _ where host.hasSuffix(".push.apple.com"): self = .apple
        case _ where host.hasSuffix(".notify.windows.com"): self = .microsoft
        default: self = .other
        }
    }

    /// The least value of the field `TTL`: Windows' service and Apple's refuse 0, which RFC 8030 section 5.2 allows.
    ///
    /// Sources: pywebpush issue 162; Apple, "Sending web push notifications in web apps and browsers" (`BadTtl`).
    var timeToLiveSecondsMinimum: Int64 { self == .microsoft || self == .apple ? 1 : 0 }
}
