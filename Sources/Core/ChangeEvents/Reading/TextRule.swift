import Essentials
internal import JSON
public import Notifications

/// The rule for a text that names something.
///
/// Events, registrations, commands and the configuration have the same rules: a name that one of them accepts, the
/// others accept as well.
public struct TextRule: Sendable {
    /// How many bytes it has at most.
    public let bytesMaximum: Int
    /// The form, as the end of "it must be", for a text of the right length that does not have it.
    let form: String
    /// The length, as the end of "it must be", for a text that is empty or too long.
    public let length: String
    /// Whether its bytes, at least one, follow the rule.
    let accepts: @Sendable (UnsafeBufferPointer<UInt8>) -> Bool

    init(
        bytesMaximum: Int, form: String = "", length: String? = nil,
        accepts: @escaping @Sendable (UnsafeBufferPointer<UInt8>) -> Bool = { _ in true }
    ) {
        self.bytesMaximum = bytesMaximum
        self.form = form
        self.length = length ?? "1 to \(bytesMaximum) bytes long"
        self.accepts = accepts
    }

    /// An identity pool or an identity (Amazon Cognito Sync API reference, `IdentityPoolId` and `IdentityId`).
    public static let identity = TextRule(
        bytesMaximum: 55,
        form: "REGION:ID, the ID of 0-9, a-f and -, for example us-east-1:b13e1dc0-0d23-4c2c-8a33-6d6ba0a1ef38"
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
    public static let datasetName = TextRule(
        bytesMaximum: 128, form: "letters and digits of ASCII and any of _ . : -, for example notes"
    ) { bytes in
        bytes.allSatisfy { byte in
            isAlphanumeric(byte) || byte == 0x5f || byte == 0x2e || byte == 0x3a || byte == 0x2d
        }
    }

    /// An app, as the configuration names it.
    public static let app = word(example: "chat")

    /// The campaign of a requested push; no derived one has such a name, for that has a colon.
    public static let campaign = word(example: "spring-sale")

    private static func word(example: String) -> TextRule {
        TextRule(bytesMaximum: 64, form: "letters and digits of ASCII and any of . - _, for example \(example)") {
            bytes in
            bytes.allSatisfy { byte in isAlphanumeric(byte) || byte == 0x2e || byte == 0x2d || byte == 0x5f }
        }
    }

    /// The name of a topic, a user, a device, a record, a zone, a subscription: any text without control characters.
    ///
    /// Names are told apart by their bytes, so two that look the same may be two.
    public static let name = TextRule(
        bytesMaximum: EventLimits.nameBytesMaximum, form: withoutControls, accepts: hasNoControls)

    /// The name of a campaign, requested or derived: any text without control characters.
    public static let campaignName = TextRule(
        bytesMaximum: EventLimits.campaignNameBytesMaximum, form: withoutControls, accepts: hasNoControls)

    /// The `id` of an event, which no other event of its source has (CloudEvents, "Type System": no control
    /// characters).
    public static let eventIdentifier = TextRule(
        bytesMaximum: EventLimits.identifierBytesMaximum, form: withoutControls, accepts: hasNoControls)

    /// The `source` of an event, which names the publisher.
    public static let source = TextRule(
        bytesMaximum: EventLimits.sourceBytesMaximum, form: withoutControls, accepts: hasNoControls)

    /// A collapse identifier; it becomes the value of an HTTP/2 header, which takes no control characters and no space
    /// at either end (RFC 9113 section 8.2.1).
    static let collapseID = TextRule(
        bytesMaximum: EventLimits.collapseIDBytesMaximum,
        form: "a text without control characters and without spaces at its ends"
    ) { bytes in bytes.first != 0x20 && bytes.last != 0x20 && hasNoControls(bytes) }

    /// A text of a notification: Apple ignores one that is empty.
    public static let shown = TextRule(
        bytesMaximum: EventLimits.bodyBytesMaximum, length: "one character long at least; leave it out to say nothing")

    /// The address of a picture, which devices fetch; they refuse plain HTTP.
    static let pictureAddress = TextRule(bytesMaximum: 2_048, form: "an https URL without spaces") { bytes in
        bytes.count > 8 && "https://".utf8.elementsEqual(bytes.prefix(8)) && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    }

    /// A channel of APNs, as its own answers write it.
    static let base64 = TextRule(bytesMaximum: 1024, form: "base64") { bytes in Base64.decode(bytes) != nil }

    /// The whole rule, as the end of "it must be", for what is missing or no text at all.
    var expected: String { form.isEmpty ? "a string, \(length)" : "a string, \(length): \(form)" }

    func isFollowed(by bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.count <= bytesMaximum && accepts(bytes)
    }

    /// Returns whether a text follows the rule.
    public func isFollowed(by text: String) -> Bool { text.readingUTF8 { bytes in isFollowed(by: bytes) } }

    /// Returns the broken rule, as the end of "it must be"; nil if the text follows the rule.
    public func requirement(brokenBy text: String) -> String? {
        guard !isFollowed(by: text) else { return nil }
        return (1...bytesMaximum).contains(text.utf8.count) ? form : length
    }

    private static let withoutControls = "a text without control characters"

    /// Whether the bytes of a text have none of C0 and C1, and no DEL; in UTF-8 those of C1 are C2 80 to C2 9F.
    @Sendable
    private static func hasNoControls(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var before: UInt8 = 0
        for byte in bytes {
            if byte < 0x20 || byte == 0x7f || before == 0xc2 && byte < 0xa0 { return false }
            before = byte
        }
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }
}

extension FieldReader {
    /// A string that follows a rule, or nil if it is not there.
    public func text(_ key: StaticString, _ rule: TextRule) throws(EventRejection) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = Self.text(value, rule) else { throw Self.broken(rule, by: value, path(key)) }
        return text
    }

    /// A string that follows a rule and has to be there.
    public func requiredText(_ key: StaticString, _ rule: TextRule) throws(EventRejection) -> String {
        guard let text = try text(key, rule) else { throw missing(key, rule.expected) }
        return text
    }

    /// One string at least, each following the rule; duplicates are taken once.
    func distinctTexts(
        _ key: StaticString, _ rule: TextRule, countMaximum: Int
    ) throws(EventRejection) -> [String] {
        var refused: RefusedTargets?
        let texts = try distinctTexts(key, rule, countMaximum: countMaximum, refused: &refused)
        if let refused { throw refused.first }
        return texts
    }

    /// The strings that follow the rule, one at least; duplicates are taken once.
    ///
    /// `refused` receives the others.
    func distinctTexts(
        _ key: StaticString, _ rule: TextRule, countMaximum: Int, refused: inout RefusedTargets?
    ) throws(EventRejection) -> [String] {
        let names = try distinct(key, "an array of strings", countMaximum: countMaximum, refused: &refused) {
            value, path throws(EventRejection) in
            guard let text = Self.text(value, rule) else { throw Self.broken(rule, by: value, path()) }
            return ByteText(text)
        }
        return names.map(\.text)
    }

    /// The elements that can be read, one at least, each by a function that is told its path for what it throws.
    ///
    /// `refused` receives the others.
    func distinct<Element: Hashable>(
        _ key: StaticString, _ expected: String, countMaximum: Int, refused: inout RefusedTargets?,
        _ read: (JSONValue, _ path: () -> String) throws(EventRejection) -> Element
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
            let element: Element
            do throws(EventRejection) {
                element = try read(value) { "\(path(key))[\(index)]" }
            } catch {
                if refused == nil {
                    refused = RefusedTargets(member: "\(key)", place: index, error)
                } else {
                    refused?.add(place: index)
                }
                continue
            }
            // The first needs no look-up: nearly all events name a single one.
            if index == 0 || seen.insert(element).inserted { elements.append(element) }
            if index == 0 && array.count > 1 { seen.insert(element) }
        }
        if elements.isEmpty, let refused { throw refused.first }
        return elements
    }

    /// Says which part of a rule a value breaks: its length, its form, or being a string.
    static func broken(_ rule: TextRule, by value: JSONValue, _ path: String) -> EventRejection {
        guard let text = value.string, let requirement = rule.requirement(brokenBy: text) else {
            return invalid(path, value, rule.expected)
        }
        return invalid(path, found: requirement == rule.form ? text.excerpt : value.kindDescription, requirement)
    }

    private static func text(_ value: JSONValue, _ rule: TextRule) -> String? {
        value.withUTF8 { bytes in rule.isFollowed(by: bytes) ? String(decoding: bytes, as: UTF8.self) : nil } ?? nil
    }
}
