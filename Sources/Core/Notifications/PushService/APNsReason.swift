/// The reasons of Apple's services.
public enum APNsReason {
    /// Those of APNs (Apple, "Handling notification responses from APNs").
    public static let all = [
        "BadDeviceToken", "Unregistered", "TooManyRequests", "ExpiredProviderToken", "InvalidProviderToken",
        "MissingProviderToken", "ExpiredToken", "DeviceTokenNotForTopic", "BadTopic", "TopicDisallowed",
        "MissingTopic", "PayloadTooLarge", "PayloadEmpty", "BadCollapseId", "BadExpirationDate", "BadMessageId",
        "BadPriority", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken", "BadCertificate",
        "BadCertificateEnvironment", "Forbidden", "UnrelatedKeyIdInToken", "BadEnvironmentKeyIdInToken", "BadPath",
        "MethodNotAllowed", "TooManyProviderTokenUpdates", "InternalServerError", "ServiceUnavailable", "Shutdown",
    ]

    /// Those that Apple's service for browsers has besides (Apple, "Sending web push notifications in web apps and
    /// browsers").
    public static let ofBrowsers = [
        "BadAuthorizationHeader", "BadJwtToken", "BadTtl", "BadUrgency", "BadVapidPublicKey", "BadWebPushRequest",
        "BadWebPushTopic", "VapidPkHashMismatch",
    ]
}
