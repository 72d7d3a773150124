/// How much of bodies and of answers is held in memory, in bytes.
struct HTTPServerMemory: Equatable, Sendable {
    /// Bodies that have not come whole, or whose request waits.
    var bodyBytes = 0
    /// Answers that their clients have not taken.
    var answerBytes = 0

    static func + (left: Self, right: Self) -> Self {
        Self(bodyBytes: left.bodyBytes + right.bodyBytes, answerBytes: left.answerBytes + right.answerBytes)
    }

    static func - (left: Self, right: Self) -> Self {
        Self(bodyBytes: left.bodyBytes - right.bodyBytes, answerBytes: left.answerBytes - right.answerBytes)
    }
}
