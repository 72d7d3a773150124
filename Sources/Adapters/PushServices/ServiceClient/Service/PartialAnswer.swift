internal import Essentials
internal import EventLoop
internal import Notifications

/// The received part of an answer.
///
/// Its memory is used again for the answer on the next stream.
public struct PartialAnswer {
    /// The most bytes of a body that are kept; with the next one, the answer counts as complete.
    public static let bodyBytesMaximum = 4_096
    /// The most bytes of header fields, of informational answers too; with more, the request ends.
    static let headBytesMaximum = 65_536
    /// The cost of a field beside its name and value, in bytes (RFC 9113 section 6.5.2).
    private static let fieldBytes = 32

    var stream: Int32 = 0
    /// The status of the last header block; 0 before the first.
    var status = 0
    var retryAfterSeconds: Int?
    /// Why the push was refused, in a header field of Windows' push service, which sends no body.
    var explanation: String?
    var body: [UInt8] = []
    private var headBytes = 0
    /// Whether the rest of it is not wanted, because there is more than is kept.
    private(set) var isCut = false

    /// Whether the final status is known; statuses below 200 announce it only.
    var hasFinalStatus: Bool { status >= 200 }

    /// Makes it ready for another stream, keeping its memory.
    mutating func reset(stream: Int32) {
        self.stream = stream
        status = 0
        retryAfterSeconds = nil
        explanation = nil
        headBytes = 0
        isCut = false
        if !body.isEmpty { body.removeAll(keepingCapacity: body.capacity <= Self.bodyBytesMaximum) }
    }

    /// Takes one header field in.
    ///
    /// - Returns: whether the request has to end now, because this is more than is wanted.
    mutating func add(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) -> Bool {
        keep(name, value)
        headBytes += name.count + value.count + Self.fieldBytes
        return cuts(headBytes > Self.headBytesMaximum)
    }

    /// Ends it the first time that there is too much.
    private mutating func cuts(_ isTooMuch: Bool) -> Bool {
        guard isTooMuch, !isCut else { return false }
        isCut = true
        return true
    }

    private mutating func keep(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        // The first letters and the length tell apart what matters; nearly every field ends here.
        switch (name.count, name.first) {
        case (7, UInt8(ascii: ":")): status = Self.decimal(value, digitsMaximum: 3) ?? 0
        case (11, UInt8(ascii: "r")):
            guard name.elementsEqual("retry-after".utf8) else { return }
            retryAfterSeconds = Self.decimal(value, digitsMaximum: 9) ?? Self.secondsUntil(value)
        case (23, UInt8(ascii: "x")):
            guard name.elementsEqual(Self.explanationField.utf8) else { return }
            explanation = ServiceExplanation.text(String(decoding: value, as: UTF8.self))
        default: return
        }
    }

    /// The field by which Windows' push service explains an answer, in lower case.
    ///
    /// Source: Microsoft, "Push notification service request and response headers".
    static let explanationField = "x-wns-error-description"

    /// Takes a part of the body in, as far as there is room.
    ///
    /// - Returns: whether the request has to end now, because this is more than is wanted.
    mutating func add(body bytes: UnsafeRawBufferPointer) -> Bool {
        let room = Self.bodyBytesMaximum - body.count
        if room > 0 { body.append(contentsOf: bytes.prefix(room)) }
        return cuts(bytes.count > room)
    }

    /// The seconds until a date, which `retry-after` may hold in place of a number (RFC 9110 section 10.2.3); nil for
    /// one that has passed, which tells of wrong clocks and not of a wait.
    private static func secondsUntil(_ date: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let seconds = HTTPDate.seconds(String(decoding: date, as: UTF8.self)) else { return nil }
        let left = seconds - WallClock.nowMilliseconds() / 1_000
        // Nine digits at most, like a number.
        return left > 0 ? Int(min(left, 999_999_999)) : nil
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
