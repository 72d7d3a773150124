import Essentials
internal import JSON
import Notifications

/// Reads the bodies of rejections, `{"reason":"…","timestamp":…}`, and of GOAWAY, which has the same form.
///
/// Any other body (empty, no JSON, a reason that is no string) gives an empty reason: the status counts.
struct AnswerParser {
    /// The most bytes of a body that are kept; the rest is dropped.
    static let bodyBytesMaximum = 4_096

    private let parser = JSONParser(depthMaximum: 8, bytesMaximum: AnswerParser.bodyBytesMaximum)

    /// Makes an answer of its parts.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - body: at most `bodyBytesMaximum` bytes.
    ///   - retryAfterSeconds: the header `retry-after`.
    /// - Returns: the answer; `deadSinceMilliseconds` only for status 410, as Apple documents it.
    func answer(status: Int, body: [UInt8], retryAfterSeconds: Int?) -> PushAnswer {
        var answer = PushAnswer(status: status, retryAfterSeconds: retryAfterSeconds)
        guard status != 200, !body.isEmpty, let parsed = try? parser.parse(body) else { return answer }
        answer.reason = reason(in: parsed)
        if status == 410, let since = parsed["timestamp"]?.int64 {
            answer.deadSinceMilliseconds = WallTime(milliseconds: since).milliseconds
        }
        return answer
    }

    /// The reason in the debug data of a GOAWAY; empty if there is none.
    func reason(inGoAway debugData: [UInt8]) -> String {
        guard !debugData.isEmpty, let parsed = try? parser.parse(debugData) else { return "" }
        return reason(in: parsed)
    }

    private func reason(in value: JSONValue) -> String {
        value["reason"]?.withUTF8 { KnownReasons.reason($0) } ?? ""
    }
}

/// The received part of an answer.
struct PartialAnswer {
    var stream: Int32 = 0
    /// The status of the last header block; 0 before the first.
    var status = 0
    var retryAfterSeconds: Int?
    var body: [UInt8] = []

    /// Whether the final status is known; statuses below 200 announce it only.
    var hasFinalStatus: Bool { status >= 200 }

    /// Makes it ready for another stream, keeping its memory.
    mutating func reset(stream: Int32) {
        self.stream = stream
        status = 0
        retryAfterSeconds = nil
        if !body.isEmpty { body.removeAll(keepingCapacity: body.capacity <= AnswerParser.bodyBytesMaximum) }
    }

    /// Takes one header field in.
    mutating func add(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        // The first letters and the length tell apart what matters; nearly every field ends here.
        switch (name.count, name.first) {
        case (7, UInt8(ascii: ":")): status = Self.decimal(value, digitsMaximum: 3) ?? 0
        case (11, UInt8(ascii: "r")):
            guard name.elementsEqual("retry-after".utf8) else { return }
            // A date, which the header may also hold, is left alone.
            retryAfterSeconds = Self.decimal(value, digitsMaximum: 9)
        default: return
        }
    }

    /// Takes a part of the body in, as far as there is room.
    mutating func add(body bytes: UnsafeRawBufferPointer) {
        let room = AnswerParser.bodyBytesMaximum - body.count
        guard room > 0 else { return }
        body.append(contentsOf: bytes.prefix(room))
    }

    private static func decimal(_ text: UnsafeBufferPointer<UInt8>, digitsMaximum: Int) -> Int? {
        guard (1...digitsMaximum).contains(text.count) else { return nil }
        var number = 0
        for byte in text {
            guard (48...57).contains(byte) else { return nil }
            number = number * 10 + Int(byte - 48)
        }
        return number
    }
}

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

    /// The string for a reason's bytes; an unknown reason is copied, cut, and made printable.
    static func reason(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        if let known = all.first(where: { $0.utf8.count == bytes.count && $0.utf8.elementsEqual(bytes) }) {
            return known
        }
        let kept = bytes.prefix(unknownBytesMaximum).filter { $0 > 0x20 && $0 < 0x7f }
        return String(decoding: kept, as: UTF8.self)
    }
}

/// The meaning of an answer for the provider token, the device token and the connection.
extension PushAnswer {
    /// Whether the peer has accepted our provider token: any answer does, but 403 with a reason about the token.
    var provesToken: Bool { !(status == 403 && (reason.hasSuffix("ProviderToken") || isAboutKeyID)) }

    /// Whether the push was refused because of the connection's earlier tokens, so that a new connection may be needed.
    ///
    /// A connection that has seen an expired token may refuse newer ones; one that has seen a token of one key refuses
    /// those of an unrelated key (Apple, "Handling notification responses from APNs").
    var wedgesConnection: Bool {
        status == 403 && (reason == "ExpiredProviderToken" || reason == "UnrelatedKeyIdInToken")
    }

    /// Whether the server is shutting down, and did not look at the push.
    var announcesShutdown: Bool { status == 503 && reason == "Shutdown" }

    /// Whether the connection is throttled because its provider token changed too often.
    var throttlesConnection: Bool { status == 429 && reason == "TooManyProviderTokenUpdates" }

    /// Whether the device token is to blame, so that the next push to it will likely be rejected, too.
    var blamesToken: Bool {
        switch status {
        case 400: reason == "BadDeviceToken" || reason == "DeviceTokenNotForTopic"
        case 410: true
        case 429: reason == "TooManyRequests"
        default: false
        }
    }

    private var isAboutKeyID: Bool { reason == "UnrelatedKeyIdInToken" || reason == "BadEnvironmentKeyIdInToken" }
}
