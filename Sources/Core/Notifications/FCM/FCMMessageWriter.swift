/// The whole message of one push: target, time to live, and what the builder wrote once for all.
public enum FCMMessageWriter {
    /// How the text of the builder begins, which gives way to the target.
    public static let beginning: StaticString = #"{"message":{"android":{"#

    /// The longest time to live, in seconds: four weeks (Google, REST reference of FCM v1, `AndroidConfig.ttl`).
    public static let timeToLiveSecondsMaximum: Int64 = 2_419_200

    /// Writes the message of one push.
    ///
    /// - Parameters:
    ///   - content: the content from `FCMMessageBuilder`.
    ///   - token: the registration token, or the installation ID: printable ASCII.
    ///   - nowSeconds: the wall clock, in seconds since 1970, from which the time to live counts.
    ///   - buffer: receives the JSON; its former content goes.
    public static func write(
        _ content: PushContent, to token: DeviceToken, nowSeconds: Int64, into buffer: inout [UInt8]
    ) {
        buffer.removeAll(keepingCapacity: true)
        let isInstallation = token.details?.isInstallationID ?? false
        append(isInstallation ? #"{"message":{"fid":""# : #"{"message":{"token":""#, to: &buffer)
        // A token has no quotation mark or backslash, unless somebody made it up.
        for byte in token.bytes {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { buffer.append(UInt8(ascii: "\\")) }
            buffer.append(byte)
        }
        append(#"","android":{"#, to: &buffer)
        if let expiration = content.expirationSeconds {
            let (difference, overflows) = expiration.subtractingReportingOverflow(nowSeconds)
            let left = min(max(0, overflows ? 0 : difference), timeToLiveSecondsMaximum)
            append(#""ttl":""#, to: &buffer)
            buffer.append(contentsOf: String(left).utf8)
            append(#"s","#, to: &buffer)
        }
        buffer.append(contentsOf: content.payload)
    }

    /// The most bytes that `write` makes for a push, without writing it.
    public static func bytesMaximum(of content: PushContent, to token: DeviceToken) -> Int {
        // The members around the token have 40 bytes, those of the time to live 18; each byte of the token may need an
        // escape.
        content.payload.count + 2 * token.bytes.count + 64
    }

    /// The reserved keys of `data` that a key belongs to, in words; nil if FCM does not reserve it.
    ///
    /// Source: Google, REST reference of FCM v1, `Message.data`.
    public static func reservation(of key: String) -> String? {
        switch key {
        case "from", "message_type": "\"\(key)\""
        case _ where key.hasPrefix("google."): "keys that begin with \"google.\""
        case _ where key.hasPrefix("gcm."): "keys that begin with \"gcm.\""
        case "gcm": "\"gcm\""
        default: nil
        }
    }

    private static func append(_ text: StaticString, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
