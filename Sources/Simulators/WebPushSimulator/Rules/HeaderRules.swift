import PushServiceSimulator

/// The values of a push's headers, after they were checked.
struct PushHeaders: Equatable {
    /// How long the message may wait, in seconds, as the sender wants it.
    var ttlSeconds: Int64
    /// `very-low`, `low`, `normal` or `high`.
    var urgency: String
    /// The topic; nil for none.
    var topic: String?
}

/// Checks the headers of a push (RFC 8030 §5, RFC 8291 §4).
enum HeaderRules {
    private static let urgencies: Set<String> = ["very-low", "low", "normal", "high"]
    private static let topicCharactersMaximum = 32

    /// Reads the headers.
    ///
    /// - Throws: the first rule that they break.
    static func read(_ request: WebPushRequest, profile: ServiceProfile) throws(WebPushRefusal) -> PushHeaders {
        let ttl = try ttl(request.ttl, profile: profile)
        let urgency = request.urgency ?? "normal"
        guard urgencies.contains(urgency) else { throw .urgencyInvalid }
        if let topic = request.topic {
            // Apple's service decodes the topic: one digit of base64 beyond a multiple of four is no byte.
            guard (1...topicCharactersMaximum).contains(topic.utf8.count), topic.utf8.allSatisfy(\.isBase64URL),
                profile != .apple || topic.utf8.count % 4 != 1
            else { throw .topicInvalid }
        }
        // A push without content has no encoding either.
        guard request.bodyLength == 0 ? request.contentEncoding == nil : request.contentEncoding == "aes128gcm" else {
            throw .encodingInvalid
        }
        return PushHeaders(ttlSeconds: ttl, urgency: urgency, topic: request.topic)
    }

    private static func ttl(_ text: String?, profile: ServiceProfile) throws(WebPushRefusal) -> Int64 {
        guard let text else { throw .ttlMissing }
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { throw .ttlInvalid }
        // A number with more digits than a machine has is a long time and no error.
        let seconds = Int64(text) ?? .max
        if seconds == 0, profile == .apple || profile == .wns { throw .ttlZero }
        return seconds
    }
}
