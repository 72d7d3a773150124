internal import JSON

/// What a string that names something must look like.
struct TextRule {
    /// How many bytes it has at most.
    let bytesMaximum: Int
    /// What it must be, for messages.
    let expected: String
    /// Whether its bytes, of which there is one at least, are as they should be.
    let accepts: @Sendable (UnsafeBufferPointer<UInt8>) -> Bool

    /// An identity pool or an identity (Amazon Cognito Sync API reference, `IdentityPoolId` and `IdentityId`).
    static let identity = TextRule(
        bytesMaximum: 55,
        expected: "a string of 1 to 55 bytes such as us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    ) { bytes in
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0, colon + 1 < bytes.count else {
            return false
        }
        let region = UnsafeBufferPointer(rebasing: bytes[..<colon])
        let identifier = UnsafeBufferPointer(rebasing: bytes[(colon + 1)...])
        return region.allSatisfy { byte in isAlphanumeric(byte) || byte == 0x5f || byte == 0x2d }
            && identifier.allSatisfy { byte in isDigit(byte) || (0x61...0x66).contains(byte) || byte == 0x2d }
    }

    /// A dataset (Amazon Cognito Sync API reference, `DatasetName`).
    static let datasetName = TextRule(
        bytesMaximum: 128, expected: "a string of 1 to 128 letters, digits and any of _ . : -"
    ) { bytes in
        bytes.allSatisfy { byte in
            isAlphanumeric(byte) || byte == 0x5f || byte == 0x2e || byte == 0x3a || byte == 0x2d
        }
    }

    /// The name of an app, a topic, a user, an identity or a device.
    static let name = TextRule(
        bytesMaximum: EventLimits.nameBytesMaximum,
        expected: "a string of 1 to \(EventLimits.nameBytesMaximum) bytes"
    ) { _ in true }

    /// The `id` of an event.
    static let eventIdentifier = TextRule(
        bytesMaximum: EventLimits.identifierBytesMaximum,
        expected: "a string of 1 to \(EventLimits.identifierBytesMaximum) bytes that no other event of its source has"
    ) { _ in true }

    /// The `source` of an event.
    static let source = TextRule(
        bytesMaximum: EventLimits.sourceBytesMaximum,
        expected: "a string of 1 to \(EventLimits.sourceBytesMaximum) bytes that names the publisher"
    ) { _ in true }

    /// A collapse identifier; it becomes the value of an HTTP/2 header, which takes no control characters and no space
    /// at either end (RFC 9113 section 8.2.1).
    static let collapseID = TextRule(
        bytesMaximum: EventLimits.collapseIDBytesMaximum,
        expected: "a string of 1 to \(EventLimits.collapseIDBytesMaximum) bytes without control characters"
            + " and without spaces at its ends"
    ) { bytes in
        bytes.first != 0x20 && bytes.last != 0x20 && bytes.allSatisfy { byte in byte >= 0x20 && byte != 0x7f }
    }

    /// A text of a notification: Apple ignores one that is empty.
    static let shown = TextRule(
        bytesMaximum: EventLimits.bodyBytesMaximum,
        expected: "a string of one character at least; leave it out to say nothing"
    ) { _ in true }

    /// A channel of APNs, as its own answers write it.
    static let base64 = TextRule(bytesMaximum: 1024, expected: "a string in base64") { bytes in
        Base64.decode(bytes) != nil
    }

    func isFollowed(by bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.count <= bytesMaximum && accepts(bytes)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }
}

extension FieldReader {
    /// A string that follows a rule, or nil if it is not there.
    func text(_ key: StaticString, _ rule: TextRule) throws(EventRejection) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = Self.text(value, rule) else { throw invalid(key, value, rule.expected) }
        return text
    }

    /// A string that follows a rule and has to be there.
    func requiredText(_ key: StaticString, _ rule: TextRule) throws(EventRejection) -> String {
        guard let text = try text(key, rule) else { throw missing(key, rule.expected) }
        return text
    }

    /// One string at least, each following the rule; what occurs twice is taken once.
    func distinctTexts(
        _ key: StaticString, _ rule: TextRule, countMaximum: Int
    ) throws(EventRejection) -> [String] {
        try distinct(key, "an array of strings", countMaximum: countMaximum, rule.expected) { value in
            Self.text(value, rule)
        }
    }

    /// One element at least, each read by a function that answers nil for what it should not be.
    func distinct<Element: Hashable>(
        _ key: StaticString, _ expected: String, countMaximum: Int, _ expectedElement: String,
        _ read: (JSONValue) -> Element?
    ) throws(EventRejection) -> [Element] {
        let expected = "\(expected), 1 to \(countMaximum) of them"
        let value = try requiredValue(key, expected)
        guard let array = value.array, !array.isEmpty else { throw invalid(key, value, expected) }
        var elements: [Element] = []
        var seen: Set<Element> = []
        for (index, value) in array.enumerated() {
            guard index < countMaximum else {
                throw Self.invalid(path(key), found: "an array of more than \(countMaximum) elements", expected)
            }
            guard let element = read(value) else {
                throw Self.invalid("\(path(key))[\(index)]", value, expectedElement)
            }
            // The first needs no look-up: nearly all events name a single one.
            if index == 0 || seen.insert(element).inserted { elements.append(element) }
            if index == 0 && array.count > 1 { seen.insert(element) }
        }
        return elements
    }

    private static func text(_ value: JSONValue, _ rule: TextRule) -> String? {
        value.withUTF8 { bytes in rule.isFollowed(by: bytes) ? String(decoding: bytes, as: UTF8.self) : nil } ?? nil
    }
}
