public import PushServiceSimulator

/// One request that the simulator answered.
public struct RecordedPush: AnswerRecord, Equatable {
    /// When it was answered, in milliseconds since 1970.
    public var timeMilliseconds: Int64
    /// The device token's digits, lowercase, as far as the path had any.
    public var deviceToken: String
    /// The `apns-id` of the answer: the request's own, or the one that the simulator made.
    public var apnsID: String
    /// `apns-push-type`.
    public var pushType: String?
    /// `apns-topic`.
    public var topic: String?
    /// `apns-priority`.
    public var priority: String?
    /// `apns-expiration`.
    public var expiration: String?
    /// `apns-collapse-id`.
    public var collapseID: String?
    /// The status of the answer.
    public var status: Int
    /// The reason of the answer, nil if the push was accepted.
    public var reason: String?
    /// Whether a push with this `apns-id` had been accepted before; only ever true of an accepted one.
    public var isDuplicate: Bool
    /// The body of the request, up to 5121 bytes of it.
    public var payload: [UInt8]

    init(_ facts: AnswerFacts, fields: RequestFields, payload: [UInt8]) {
        timeMilliseconds = facts.timeMilliseconds
        deviceToken = String(
            decoding: (fields.deviceTokenDigits ?? UnsafeBufferPointer(start: nil, count: 0)).map(\.lowercasedDigit),
            as: UTF8.self)
        apnsID = String(decoding: facts.identifierText, as: UTF8.self)
        pushType = Self.text(fields[.pushType])
        topic = Self.text(fields[.topic])
        priority = Self.text(fields[.priority])
        expiration = Self.text(fields[.expiration])
        collapseID = Self.text(fields[.collapseIdentifier])
        status = facts.answer.status
        reason = facts.answer.reason
        isDuplicate = facts.isDuplicate
        self.payload = payload
    }

    private static func text(_ value: UnsafeBufferPointer<UInt8>?) -> String? {
        value.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The facts about one answer, beside the request itself.
struct AnswerFacts {
    /// When it was given, in milliseconds since 1970.
    var timeMilliseconds: Int64
    /// The `apns-id` of the answer.
    var identifierText: UnsafeBufferPointer<UInt8>
    /// The answer.
    var answer: ServiceAnswer
    /// Whether a push with the same `apns-id` had been accepted before.
    var isDuplicate: Bool
    /// Whether the payload is known to be JSON.
    var isPayloadChecked: Bool
}
