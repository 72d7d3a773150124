/// The reasons of Apple's services.
public enum APNsReason {
    /// The reasons of APNs (Apple, "Handling notification responses from APNs").
    public static let all = [
        "BadDeviceToken", "Unregistered", "TooManyRequests", "ExpiredProviderToken", "InvalidProviderToken",
        "MissingProviderToken", "ExpiredToken", "DeviceTokenNotForTopic", "BadTopic", "TopicDisallowed",
        "MissingTopic", "PayloadTooLarge", "PayloadEmpty", "BadCollapseId", "BadExpirationDate", "BadMessageId",
        "BadPriority", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken", "BadCertificate",
        "BadCertificateEnvironment", "Forbidden", "UnrelatedKeyIdInToken", "BadEnvironmentKeyIdInToken", "BadPath",
        "MethodNotAllowed", "TooManyProviderTokenUpdates", "InternalServerError", "ServiceUnavailable", "Shutdown",
    ]

    /// The further reasons of Apple's push service for browsers (Apple, "Sending web push notifications in web apps and
    /// browsers").
    public static let ofBrowsers = [
        "BadAuthorizationHeader", "BadJwtToken", "BadTtl", "BadUrgency", "BadVapidPublicKey", "BadWebPushRequest",
        "BadWebPushTopic", "VapidPkHashMismatch",
    ]
}
