/// Why APNs refuses a push: the values of `reason`, each with its status.
///
/// Source: Apple, "Handling notification responses from APNs", the table of error strings.
public enum Rejection: String, CaseIterable, Sendable {
    /// The collapse identifier is longer than 64 bytes.
    case badCollapseID = "BadCollapseId"
    /// The device token is malformed or of the other environment.
    case badDeviceToken = "BadDeviceToken"
    /// `apns-expiration` is not a number of seconds.
    case badExpirationDate = "BadExpirationDate"
    /// `apns-id` is no canonical lowercase UUID.
    case badMessageID = "BadMessageId"
    /// `apns-priority` is unknown, or not allowed for the push type.
    case badPriority = "BadPriority"
    /// `apns-topic` is malformed, or lacks the suffix of the push type.
    case badTopic = "BadTopic"
    /// The device token belongs to another topic.
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    /// A header came twice.
    case duplicateHeaders = "DuplicateHeaders"
    /// `apns-push-type` is unknown, or contradicts the payload.
    case invalidPushType = "InvalidPushType"
    /// The path ends where the device token should begin.
    case missingDeviceToken = "MissingDeviceToken"
    /// `apns-topic` is absent.
    case missingTopic = "MissingTopic"
    /// There is no payload, or no readable one.
    case payloadEmpty = "PayloadEmpty"
    /// The key may not push to this topic.
    case topicDisallowed = "TopicDisallowed"
    /// The provider token was issued more than an hour ago.
    case expiredProviderToken = "ExpiredProviderToken"
    /// The provider token is malformed, of an unknown key or team, or its signature is wrong.
    case invalidProviderToken = "InvalidProviderToken"
    /// There is no provider token.
    case missingProviderToken = "MissingProviderToken"
    /// The provider token is of another key than the first push on the connection.
    case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
    /// The path is none that APNs serves.
    case badPath = "BadPath"
    /// The method is not POST.
    case methodNotAllowed = "MethodNotAllowed"
    /// The device token has expired.
    case expiredToken = "ExpiredToken"
    /// The device token is no longer active for the topic.
    case unregistered = "Unregistered"
    /// The payload is longer than the push type allows.
    case payloadTooLarge = "PayloadTooLarge"
    /// The provider token changes too often.
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    /// Too many pushes to one device in a row.
    case tooManyRequests = "TooManyRequests"

    /// The HTTP status that comes with the reason.
    public var status: Int {
        switch self {
        case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .invalidPushType, .missingDeviceToken, .missingTopic,
            .payloadEmpty, .topicDisallowed:
            400
        case .expiredProviderToken, .invalidProviderToken, .missingProviderToken, .unrelatedKeyIDInToken: 403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        }
    }
}
