/// What there is to say about one answer, beside the request itself.
struct AnswerFacts {
    /// When it was given, in milliseconds since 1970.
    var timeMilliseconds: Int64
    /// The same by the system's clock, in microseconds.
    var timeMicroseconds: Int64
    /// The `apns-id` of the answer.
    var identifierText: UnsafeBufferPointer<UInt8>
    /// The answer.
    var answer: ScriptedAnswer
    /// Whether a push with the same `apns-id` had been accepted before.
    var isDuplicate: Bool
    /// Whether the payload is known to be JSON.
    var isPayloadChecked: Bool
}
