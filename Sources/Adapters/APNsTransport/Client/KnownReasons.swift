/// The reasons that Apple documents, as strings that are there already: a rejected push allocates none.
///
/// Source: Apple, "Handling notification responses from APNs".
enum KnownReasons {
    static let all: [String] = [
        "BadDeviceToken", "Unregistered", "TooManyRequests", "ExpiredProviderToken", "InvalidProviderToken",
        "MissingProviderToken", "ExpiredToken", "DeviceTokenNotForTopic", "BadTopic", "TopicDisallowed",
        "MissingTopic", "PayloadTooLarge", "PayloadEmpty", "BadCollapseId", "BadExpirationDate", "BadMessageId",
        "BadPriority", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken", "BadCertificate",
        "BadCertificateEnvironment", "Forbidden", "UnrelatedKeyIdInToken", "BadEnvironmentKeyIdInToken", "BadPath",
        "MethodNotAllowed", "TooManyProviderTokenUpdates", "InternalServerError", "ServiceUnavailable", "Shutdown",
    ]

    /// The longest unknown reason that is kept, in bytes: more is not a word.
    private static let unknownBytesMaximum = 64

    /// The string for a reason's bytes; an unknown reason is copied, cut, and freed of what a log cannot hold.
    static func reason(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        if let known = all.first(where: { $0.utf8.count == bytes.count && $0.utf8.elementsEqual(bytes) }) {
            return known
        }
        let kept = bytes.prefix(unknownBytesMaximum).filter { $0 > 0x20 && $0 < 0x7f }
        return String(decoding: kept, as: UTF8.self)
    }
}
