/// The push services that the devices of a scenario can have.
enum ServiceKind: String, Sendable, CaseIterable {
    case apns, fcm, webpush

    /// How a sentence calls it.
    var title: String {
        switch self {
        case .apns: "APNs"
        case .fcm: "FCM"
        case .webpush: "Web Push"
        }
    }

    /// The simulator's word for an answer with 503, which each service has.
    private var unavailableReason: String { self == .apns ? "ServiceUnavailable" : "UNAVAILABLE" }

    /// The line by which the simulator answers some requests with 503.
    ///
    /// - Parameters:
    ///   - probability: 0 to 1.
    ///   - retryAfterSeconds: the wait that the answer asks for; nil for none.
    /// - Returns: a line of JSON.
    func unavailable(probability: Double, retryAfterSeconds: Int? = nil) -> String {
        let retryAfter = retryAfterSeconds.map { #","retry_after":\#($0)"# } ?? ""
        return #"{"fault":"answer","status":503,"reason":"\#(unavailableReason)","probability":\#(probability)"#
            + retryAfter + "}"
    }

    /// The reasons, in the simulator's record, for which a device may be removed.
    var deadReasons: Set<String> {
        switch self {
        case .apns: ["Unregistered", "ExpiredToken", "BadDeviceToken"]
        case .fcm: ["UNREGISTERED", "SENDER_ID_MISMATCH", "INVALID_ARGUMENT"]
        case .webpush: ["SUBSCRIPTION_GONE", "SUBSCRIPTION_STALE", "VAPID_KEY_MISMATCH"]
        }
    }

    /// The line of the simulator's script by which the service calls a device gone.
    ///
    /// - Parameter address: how the simulator's record calls the device.
    /// - Returns: a line of JSON.
    func goneLine(_ address: String) -> String {
        switch self {
        case .apns, .fcm: #"{"token":"\#(address)","answer":"unregistered"}"#
        case .webpush: #"{"subscription":"\#(address)","answer":"gone"}"#
        }
    }
}
