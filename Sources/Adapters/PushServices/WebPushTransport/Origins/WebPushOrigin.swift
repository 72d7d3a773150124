import Notifications
internal import ServiceClient

/// The origin of an endpoint: where a push goes.
struct WebPushOrigin {
    /// The origin as tokens name it.
    let audience: VAPIDAudience
    /// The host in small letters; an IPv6 address without brackets.
    let host: String
    /// The port.
    let port: UInt16

    /// Reads the origin of a subscription's endpoint; nil if it has none that is safe to use.
    init?(_ token: borrowing DeviceToken) {
        let text = token.bytes.withUnsafeBufferPointer {
            String(decoding: $0[..<EndpointPath.range(in: $0).lowerBound], as: UTF8.self)
        }
        guard let audience = try? VAPIDAudience(endpoint: text),
            let endpoint = try? ServiceEndpoint(String(audience.origin.dropFirst("https://".count)), defaultHost: "")
        else { return nil }
        self.audience = audience
        host = endpoint.host
        port = endpoint.port
    }
}

/// Why a subscription cannot be used, as a service would answer it: status 400, or 410, with one of these words.
public enum SubscriptionProblem: String, CaseIterable, Sendable {
    /// The device has no keys of a browser.
    case keysMissing = "SUBSCRIPTION_KEYS_MISSING"
    /// The public key is not on the curve, or the message is too long.
    case keysInvalid = "SUBSCRIPTION_KEYS_INVALID"
    /// The endpoint does not begin with `https://` and a host.
    case endpointInvalid = "SUBSCRIPTION_ENDPOINT_INVALID"
    /// The host or the port is not allowed.
    case endpointRefused = "SUBSCRIPTION_ENDPOINT_REFUSED"
    /// Its `expirationTime` has passed (W3C Push API).
    case ended = "SUBSCRIPTION_ENDED"

    /// The outcome of a push to it, which stays so.
    var outcome: AttemptOutcome { .answered(PushAnswer(status: self == .ended ? 410 : 400, reason: rawValue)) }
}
