import ChangeEvents
import HTTPServer
import JSON

/// The members of a request's body, each with its type checked.
///
/// A member that is not known is refused: it is more likely misspelt than not needed.
struct NativeBody {
    /// The whole of it, for readers of their own.
    let value: JSONValue
    private let object: JSONObject

    /// Reads a body.
    ///
    /// - Parameters:
    ///   - bytes: the body.
    ///   - names: the members that it may have.
    ///   - parser: reads it; the body is good until the parser reads again.
    /// - Throws: `NativeProblem`.
    init(_ bytes: [UInt8], names: [String], parser: JSONParser) throws(NativeProblem) {
        let value: JSONValue
        do throws(JSONError) {
            value = try parser.parse(bytes)
        } catch {
            throw NativeProblem(.invalid, "The body is not JSON: \(error).")
        }
        guard let object = value.object else { throw NativeProblem(.invalid, "The body is not a JSON object.") }
        for member in object where !names.contains(member.key) {
            throw NativeProblem(
                .invalid,
                "\"\(member.key.prefix(64))\" is not known; "
                    + SpellingSuggestion.advice(about: member.key, among: names))
        }
        self.object = object
        self.value = value
    }

    /// Refuses a request whose body says that it is no JSON.
    static func requireJSON(_ request: HTTPRequest) throws(NativeProblem) {
        for field in request.fields where field.name == "content-type" {
            let type = field.value.prefix { $0 != ";" }.lowercased().split { $0 == " " || $0 == "\t" }
            guard type == ["application/json"] else {
                throw NativeProblem(
                    .unsupportedMediaType,
                    "The body is \"\(field.value.prefix(64))\"; it must be JSON: Content-Type: application/json.")
            }
        }
    }

    /// A text that has to be there.
    func required(_ name: StaticString) throws(NativeProblem) -> String {
        guard let text = try string(name) else { throw NativeProblem(.invalid, "\"\(name)\" is missing.") }
        return text
    }

    /// A text, or nil.
    func string(_ name: StaticString) throws(NativeProblem) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else {
            throw NativeProblem(.invalid, "\"\(name)\" has to be a string, not \(value.kind.rawValue).")
        }
        return text
    }

    /// A whole number from 0 up, or nil.
    func integer(_ name: StaticString, maximum: Int) throws(NativeProblem) -> Int? {
        guard let value = value(name) else { return nil }
        guard let number = value.int64, (0...Int64(maximum)).contains(number) else {
            throw NativeProblem(.invalid, "\"\(name)\" has to be a whole number from 0 to \(maximum).")
        }
        return Int(number)
    }

    /// A list of texts; empty if it is not there.
    func strings(_ name: StaticString, countMaximum: Int) throws(NativeProblem) -> [String] {
        guard let value = value(name) else { return [] }
        var texts: [String] = []
        guard let array = value.array else {
            throw NativeProblem(.invalid, "\"\(name)\" has to be an array of strings.")
        }
        for element in array {
            guard texts.count < countMaximum else {
                throw NativeProblem(.invalid, "\"\(name)\" has more than \(countMaximum) entries.")
            }
            guard let text = element.string else {
                throw NativeProblem(.invalid, "\"\(name)\" has an entry that is no string.")
            }
            texts.append(text)
        }
        return texts
    }

    /// The members of an object whose values are texts; none if it is not there.
    func texts(_ name: StaticString) throws(NativeProblem) -> [(name: String, text: String)] {
        guard let value = value(name) else { return [] }
        guard let object = value.object else {
            throw NativeProblem(.invalid, "\"\(name)\" has to be an object whose values are strings.")
        }
        var texts: [(name: String, text: String)] = []
        for member in object {
            guard let text = member.value.string else {
                throw NativeProblem(.invalid, "\"\(name)\" has to be an object whose values are strings.")
            }
            texts.append((String(member.key), text))
        }
        return texts
    }

    /// Whether a member is there and not null.
    func has(_ name: String) -> Bool { object.contains { $0.key == name && !$0.value.isNull } }

    /// A member of any type, for a reader of its own; nil if it is not there or null.
    func value(_ name: StaticString) -> JSONValue? {
        guard let value = object[name], !value.isNull else { return nil }
        return value
    }
}
