import PushServiceSimulator

/// Decides what FCM would say to a message that the schema allows.
///
/// Source: Google, "REST resource projects.messages", "ErrorCode" and "About FCM messages". The texts are those that
/// were seen where there are any: the reserved key in firebase-php 574, the missing target in bloomberg/pushiko. The
/// text about the size is that of 2026; before it was "Android message is too big".
enum MessageRules {
    private static let payloadBytesMaximum = 4_096
    private static let topicPayloadBytesMaximum = 2_048
    /// Four weeks.
    private static let ttlSecondsMaximum = 2_419_200.0
    private static let conditionTopicsMaximum = 5
    private static let tokenBytesMaximum = 4_096
    private static let labelBytesMaximum = 50

    /// Judges a message.
    ///
    /// - Returns: the refusal; nil if nothing speaks against it.
    static func refusal(of message: DecodedMessage) -> GoogleError? {
        guard let target = message.target else {
            return .invalidArgument("Recipient of the message is not set.", field: "message")
        }
        return targetRefusal(target) ?? dataRefusal(message) ?? optionsRefusal(message)
            ?? sizeRefusal(message, isDevice: target.kind.isDevice)
    }

    // MARK: The target

    private static func targetRefusal(_ target: MessageTarget) -> GoogleError? {
        switch target.kind {
        case .token, .fid: nil
        case .topic:
            isTopic(target.value)
                ? nil : .invalidArgument("Invalid topic name provided.", field: "message.topic")
        case .condition:
            TopicCondition.topicCount(target.value).map { $0 <= conditionTopicsMaximum } ?? false
                ? nil : .invalidArgument("Invalid condition expression provided.", field: "message.condition")
        }
    }

    /// Whether a text can be an address of a device at all.
    ///
    /// A token is of letters, digits, `:`, `-` and `_`; an installation identifier has 22 of them and begins with `c`,
    /// `d`, `e` or `f` (firebase-js-sdk, `generate-fid.ts`).
    static func isWellFormed(_ target: MessageTarget) -> Bool {
        let bytes = target.value.utf8
        switch target.kind {
        case .token:
            return !bytes.isEmpty && bytes.count <= tokenBytesMaximum
                && bytes.allSatisfy { $0.isBase64URL || $0 == UInt8(ascii: ":") }
        case .fid: return bytes.count == 22 && "cdef".utf8.contains(bytes.first ?? 0) && bytes.allSatisfy(\.isBase64URL)
        case .topic, .condition: return true
        }
    }

    /// Whether a text is a topic's name: `[a-zA-Z0-9-_.~%]+`.
    static func isTopic(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0.isBase64URL || ".~%".utf8.contains($0) }
    }

    // MARK: The content

    private static func dataRefusal(_ message: DecodedMessage) -> GoogleError? {
        for (field, data) in [
            ("message.data", message.node["data"]), ("message.android.data", message.android?["data"]),
        ] {
            if let key = data?.members.first(where: { isReserved($0.name) })?.name {
                return .invalidArgument("Invalid data payload key: \(key)", field: field)
            }
        }
        return nil
    }

    private static func isReserved(_ key: String) -> Bool {
        key == "from" || key == "message_type" || key == "gcm" || key.hasPrefix("google.") || key.hasPrefix("gcm.")
    }

    private static func optionsRefusal(_ message: DecodedMessage) -> GoogleError? {
        if let ttl = message.ttl, let seconds = ProtoDuration.seconds(ttl), !(0...ttlSecondsMaximum).contains(seconds) {
            return .invalidArgument(
                "Invalid TTL: a duration from 0 to 2419200 seconds is expected.", field: "message.android.ttl")
        }
        let color = message.android?["notification"]?["color"]?.text
        if let color, !isColor(color) {
            return .invalidArgument(
                "Invalid color: #RRGGBB is expected.", field: "message.android.notification.color")
        }
        for part in ["message", "message.android", "message.apns", "message.webpush"] {
            let node = part == "message" ? message.node : message.node[String(part.dropFirst(8))]
            guard let label = node?["fcm_options"]?["analytics_label"]?.text, !isLabel(label) else { continue }
            return .invalidArgument("Invalid analytics label.", field: part + ".fcm_options.analytics_label")
        }
        return nil
    }

    private static func isColor(_ text: String) -> Bool {
        text.utf8.count == 7 && text.hasPrefix("#") && text.dropFirst().allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// Whether a text is a label: `[a-zA-Z0-9-_.~%]{1,50}`.
    private static func isLabel(_ text: String) -> Bool { isTopic(text) && text.utf8.count <= labelBytesMaximum }

    /// Keys and values count, of the data and of what is shown, for each platform by itself.
    private static func sizeRefusal(_ message: DecodedMessage, isDevice: Bool) -> GoogleError? {
        let maximum = isDevice ? payloadBytesMaximum : topicPayloadBytesMaximum
        let common = byteCount(message.node["notification"])
        let shown = common + byteCount(message.android?["notification"])
        let data = byteCount(message.android?["data"] ?? message.node["data"])
        let forAll = byteCount(message.node["data"])
        let apns = message.node["apns"]?["payload"].map { $0.compact.utf8.count } ?? 0
        guard max(shown + data, common + forAll + apns) > maximum else { return nil }
        return .invalidArgument(
            "Message is too large. The maximum is \(maximum / 1_024)K (\(maximum) bytes).", field: "message")
    }

    /// The bytes of the members of an object, strings without their quotes.
    private static func byteCount(_ node: GoogleJSON?) -> Int {
        node?.members.reduce(0) { $0 + $1.name.utf8.count + ($1.value.text ?? $1.value.compact).utf8.count } ?? 0
    }
}

/// A boolean expression over topics: `'a' in topics && ('b' in topics || !('c' in topics))`.
enum TopicCondition {
    /// How many topics a condition names; nil if it is none.
    static func topicCount(_ text: String) -> Int? {
        var rest = Substring(text)
        var count = 0
        guard readExpression(&rest, &count, depth: 0), rest.allSatisfy({ $0 == " " }), count > 0 else { return nil }
        return count
    }

    private static func readExpression(_ rest: inout Substring, _ count: inout Int, depth: Int) -> Bool {
        guard depth < 8, readTerm(&rest, &count, depth: depth) else { return false }
        while take("&&", &rest) || take("||", &rest) {
            guard readTerm(&rest, &count, depth: depth) else { return false }
        }
        return true
    }

    private static func readTerm(_ rest: inout Substring, _ count: inout Int, depth: Int) -> Bool {
        if take("!", &rest) { return depth < 8 && readTerm(&rest, &count, depth: depth + 1) }
        if take("(", &rest) { return readExpression(&rest, &count, depth: depth + 1) && take(")", &rest) }
        guard take("'", &rest), let end = rest.firstIndex(of: "'"), MessageRules.isTopic(String(rest[..<end])) else {
            return false
        }
        rest = rest[rest.index(after: end)...]
        count += 1
        return take("in", &rest) && take("topics", &rest)
    }

    private static func take(_ word: String, _ rest: inout Substring) -> Bool {
        let start = rest.drop { $0 == " " }
        guard start.hasPrefix(word) else { return false }
        rest = start.dropFirst(word.count)
        return true
    }
}
