import Essentials
import HTTPServer
import JSON

/// One request to the page's API, from a known user.
struct PageCall: Sendable {
    /// The longest body, in bytes.
    static let bodyBytesMaximum = 256 * 1_024

    let request: HTTPRequest
    let user: PageUser
    /// The parameters of the path.
    let values: PathValues

    /// The number that a segment of the path, or an item of the query, has to be.
    static func number(_ text: String, _ name: String) throws(PageProblem) -> Int64 {
        guard let number = Int64(text), number >= 0 else {
            throw PageProblem(.invalid, "\(name) is \(text.shortened(bytesMaximum: 40)): expected a whole number.")
        }
        return number
    }

    /// An item of the query that is a number.
    func number(_ name: String) throws(PageProblem) -> Int64? {
        guard let text = request.query(name), !text.isEmpty else { return nil }
        return try Self.number(text, name)
    }

    /// The item `limit` of the query.
    func limit(_ standard: Int, atMost maximum: Int) throws(PageProblem) -> Int {
        min(max(1, Int(clamping: try number("limit") ?? Int64(standard))), maximum)
    }

    /// An item of the query; nil if it is missing or empty.
    func text(_ name: String) -> String? { request.query(name).flatMap { $0.isEmpty ? nil : $0 } }

    /// Reads the body, an object of JSON.
    ///
    /// - Parameters:
    ///   - members: the members that it may have.
    ///   - read: reads them; the values end with it.
    /// - Returns: the result of `read`.
    /// - Throws: `PageProblem` if the body is no such object, or what `read` throws.
    func body<Value>(_ members: [StaticString], _ read: (JSONObject) throws(PageProblem) -> Value) throws(PageProblem)
        -> Value
    {
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONParser(bytesMaximum: Self.bodyBytesMaximum).parse(request.body)
        } catch {
            throw PageProblem(.invalid, "The body is not valid JSON: \(error)")
        }
        guard let object = root.object else {
            throw PageProblem(.invalid, "The body is \(root.kindDescription): expected an object.")
        }
        if let member = object.firstMember(notAmong: members) {
            throw PageProblem(
                .invalid,
                "The body has the unknown member \"\(member.key.shortened(bytesMaximum: 40))\": expected "
                    + "\(members.map { "\($0)" }.joined(separator: ", ")).")
        }
        return try read(object)
    }
}

extension JSONObject {
    /// A member that is a text; nil if it is missing, null or empty.
    func text(_ key: StaticString) throws(PageProblem) -> String? {
        guard let value = self[key], !value.isNull else { return nil }
        guard let text = value.string else {
            throw PageProblem(.invalid, "\(key) is \(value.kindDescription): expected a text.")
        }
        return text.isEmpty ? nil : text
    }

    /// A member that has to be a text.
    func requiredText(_ key: StaticString) throws(PageProblem) -> String {
        guard let text = try text(key) else { throw PageProblem(.invalid, "\(key) is missing: expected a text.") }
        return text
    }

    /// A member that is a whole number; nil if it is missing or null.
    func number(_ key: StaticString) throws(PageProblem) -> Int64? {
        guard let value = self[key], !value.isNull else { return nil }
        guard let number = value.int64 else {
            throw PageProblem(.invalid, "\(key) is \(value.kindDescription): expected a whole number.")
        }
        return number
    }
}
