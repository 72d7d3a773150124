import Essentials

extension Message {
    /// When the change happened, as far as the message says so outside of its event: the header `x-timestamp-ms`, a
    /// whole number or its digits, else the property `timestamp`.
    ///
    /// Both are hints for measuring; what makes no sense in them is ignored.
    var timestamp: WallTime? {
        if let header = header("x-timestamp-ms"), let milliseconds = Self.milliseconds(in: header) {
            return WallTime(milliseconds: milliseconds)
        }
        guard let seconds = properties.timestampSeconds, seconds <= WallTime.latest.seconds else { return nil }
        return WallTime(seconds: seconds)
    }

    /// When its publisher says that it was published: the end of the second that the property `timestamp` names.
    var published: WallTime? {
        properties.timestampSeconds.map { WallTime(seconds: $0).advanced(byMilliseconds: 999) }
    }

    /// How long it may wait, from the property `expiration`: decimal digits, milliseconds.
    ///
    /// RabbitMQ refuses to publish anything else there, so what is no such number can only be ignored.
    var timeToLiveMilliseconds: Int64? {
        guard let expiration = properties.expiration else { return nil }
        return Self.digits(expiration)
    }

    private static func milliseconds(in value: HeaderValue) -> Int64? {
        if let number = value.wholeNumber { return number >= 0 ? Int64(exactly: number) : nil }
        guard case .string(let text) = value else { return nil }
        return digits(text)
    }

    private static func digits(_ text: String) -> Int64? {
        guard text.utf8.allSatisfy({ byte in (0x30...0x39).contains(byte) }) else { return nil }
        return Int64(text)
    }
}
