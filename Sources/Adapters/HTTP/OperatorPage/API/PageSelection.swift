import Backoffice
import Crypto
import Essentials
import JSON
import RegistryCore

/// The dead letters that a preview has counted, and what is to be done with them.
///
/// Its token is the selection itself, so any process can carry out what another has shown. Letters that come after the
/// preview have greater numbers, and are not part of it.
struct PageSelection: Hashable, Sendable {
    /// How long a preview is good for.
    static let lifeMilliseconds: Int64 = 600_000
    /// How many letters may be named one by one.
    static let identifiersMaximum = 200

    let action: AuditEntry.Action
    /// Which letters, if none is named.
    var filter: DeadLetterFilter
    /// The letters by name; empty if the filter says which.
    var identifiers: [String]
    /// How many letters the preview has counted.
    var count: Int
    /// Until when it may be carried out, in milliseconds since 1970.
    var expiresAtMilliseconds: Int64

    /// The token for the page.
    var token: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("action", action.rawValue)
        writer.member("count", count)
        writer.member("expires", expiresAtMilliseconds)
        writer.member("numberMaximum", filter.numberMaximum)
        if identifiers.isEmpty {
            writer.object("filter") { filter.write(to: &$0) }
        } else {
            writer.array("ids", texts: identifiers)
        }
        writer.endObject()
        return "\(Base64URL.encode(writer.bytes)).\(Base64URL.encode(Self.checksum(writer.bytes)))"
    }

    /// Reads a token; nil if it is none.
    init?(token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Base64URL.decode(String(parts[0])),
            Base64URL.decode(String(parts[1])) == Self.checksum(bytes),
            let root = try? JSONParser(bytesMaximum: PageCall.bodyBytesMaximum).parse(bytes),
            let action = root["action"]?.string.flatMap({ AuditEntry.Action(rawValue: $0) }),
            let count = root["count"]?.int64, let expires = root["expires"]?.int64
        else { return nil }
        self.action = action
        self.count = Int(clamping: count)
        expiresAtMilliseconds = expires
        identifiers = root["ids"]?.array.map { $0.compactMap(\.string) } ?? []
        guard let filter = root["filter"]?.object.map({ try? DeadLetterFilter($0) }) ?? DeadLetterFilter() else {
            return nil
        }
        self.filter = filter
        self.filter.numberMaximum = root["numberMaximum"]?.int64
    }

    /// Selects by filter or by name.
    init(action: AuditEntry.Action, filter: DeadLetterFilter, identifiers: [String], nowMilliseconds: Int64) {
        self.action = action
        self.filter = filter
        self.identifiers = identifiers
        count = 0
        expiresAtMilliseconds = nowMilliseconds + Self.lifeMilliseconds
    }

    /// The letters, for those who work with them.
    var letters: DeadLetterSelection {
        var selection = DeadLetterSelection(identifiers: identifiers, filter: filter)
        selection.prefixCountMinimum = 32
        return selection
    }

    /// The selection in words, for the audit log.
    var description: String {
        guard identifiers.isEmpty else { return identifiers.map { String($0.prefix(12)) }.joined(separator: " ") }
        let text = filter.description
        return text.isEmpty ? "every letter" : text
    }

    /// Tells a token that was cut or changed by mistake; an operator may select what it says in any case.
    private static func checksum(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256Digest.digest(bytes).prefix(8)) }
}

extension DeadLetterFilter {
    /// The members of a filter in JSON, and its items in a query.
    static let members: [StaticString] = [
        "id", "reason", "app", "type", "source", "eventId", "sinceMilliseconds", "untilMilliseconds",
    ]

    /// Reads a filter from the body of a request.
    init(_ object: JSONObject) throws(PageProblem) {
        self.init()
        if let member = object.firstMember(notAmong: Self.members) {
            throw PageProblem(
                .invalid,
                "The filter has the unknown member \"\(member.key.shortened(bytesMaximum: 40))\": expected "
                    + "\(Self.members.map { "\($0)" }.joined(separator: ", ")).")
        }
        identifierPrefix = try object.text("id")?.lowercased()
        reason = try object.text("reason")
        app = try object.text("app")
        eventType = try object.text("type")
        eventSource = try object.text("source")
        eventIdentifier = try object.text("eventId")
        sinceMilliseconds = try object.number("sinceMilliseconds")
        untilMilliseconds = try object.number("untilMilliseconds")
        try check()
    }

    /// Reads a filter from the query of a request.
    init(_ call: PageCall) throws(PageProblem) {
        self.init()
        identifierPrefix = call.text("id")?.lowercased()
        reason = call.text("reason")
        app = call.text("app")
        eventType = call.text("type")
        eventSource = call.text("source")
        eventIdentifier = call.text("eventId")
        sinceMilliseconds = try call.number("sinceMilliseconds")
        untilMilliseconds = try call.number("untilMilliseconds")
        try check()
    }

    private func check() throws(PageProblem) {
        guard let identifierPrefix else { return }
        let isHexadecimal = identifierPrefix.utf8.allSatisfy { HexadecimalDigits.value(ofLowercase: $0) != nil }
        guard isHexadecimal, identifierPrefix.utf8.count <= 32 else {
            throw PageProblem(
                .invalid,
                "id is \"\(identifierPrefix.shortened(bytesMaximum: 40))\": expected the beginning of an "
                    + "identifier, up to 32 hexadecimal digits.")
        }
    }

    private var texts: [(StaticString, String?)] {
        [
            ("id", identifierPrefix), ("reason", reason), ("app", app), ("type", eventType),
            ("source", eventSource), ("eventId", eventIdentifier),
        ]
    }

    fileprivate func write(to writer: inout JSONWriter) {
        for (name, text) in texts { writer.member(name, text) }
        writer.member("sinceMilliseconds", sinceMilliseconds)
        writer.member("untilMilliseconds", untilMilliseconds)
    }

    /// The filter in words.
    fileprivate var description: String {
        var words = texts.compactMap { name, text in text.map { "\(name)=\($0)" } }
        if let sinceMilliseconds { words.append("since=\(WallTime.text(milliseconds: sinceMilliseconds))") }
        if let untilMilliseconds { words.append("until=\(WallTime.text(milliseconds: untilMilliseconds))") }
        return words.joined(separator: " ")
    }
}
