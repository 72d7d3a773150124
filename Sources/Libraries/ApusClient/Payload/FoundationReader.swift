import Foundation

/// Turns what Foundation and the operating system hand out into values, and says what it had to leave out.
///
/// A payload comes from outside, so nothing in it may make the app crash: numbers that are not finite, keys that are no
/// texts, objects that JSON does not have, nesting without end.
struct FoundationReader {
    /// The deepest nesting that is read; deeper values are left out.
    static let depthMaximum = 32
    /// The most problems that are kept.
    static let problemsMaximum = 16
    /// The longest JSON that is read, in bytes: many times what a push service delivers (4 to 6 KiB).
    static let bytesMaximum = 65_536

    private(set) var problems: [PayloadProblem] = []

    /// Reads a JSON object.
    func object(json: Data) throws(PayloadError) -> [String: PayloadValue] {
        guard json.count <= Self.bytesMaximum else {
            throw Self.notReadable("the payload has \(json.count) bytes, expected at most \(Self.bytesMaximum)")
        }
        // Parsers recurse, and a thread's stack may be small.
        guard Self.depth(of: json) <= Self.depthMaximum else {
            throw Self.notReadable("the payload is nested deeper than \(Self.depthMaximum) levels")
        }
        // `JSONSerialization` of Linux rounds numbers; this does not.
        guard let found = try? JSONDecoder().decode(PayloadValue.self, from: json) else {
            throw Self.notReadable("the payload is no JSON, or has a number that no double can be")
        }
        guard let members = found.object else { throw Self.notReadable("the payload is JSON, but no object") }
        return members
    }

    /// Reads the dictionary that the operating system hands to the app.
    mutating func object(userInfo: [AnyHashable: Any]) -> [String: PayloadValue] {
        members(userInfo.map { ($0.key.base, $0.value) }, at: "", depth: 0)
    }

    /// Notes a problem, unless there are many already.
    mutating func note(_ problem: PayloadProblem) {
        if problems.count < Self.problemsMaximum { problems.append(problem) }
    }

    private static func notReadable(_ message: String) -> PayloadError {
        PayloadError(.notReadable, PayloadProblem("", message))
    }

    /// How deeply arrays and objects are nested, outside of strings.
    private static func depth(of json: Data) -> Int {
        var depth = 0
        var deepest = 0
        var isInString = false
        var isEscaped = false
        for byte in json {
            if isEscaped {
                isEscaped = false
            } else if isInString {
                isEscaped = byte == UInt8(ascii: "\\")
                isInString = byte != UInt8(ascii: "\"")
            } else {
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
                deepest = max(deepest, depth)
            }
        }
        return deepest
    }

    private mutating func value(_ found: Any, at path: String, depth: Int) -> PayloadValue? {
        guard depth <= Self.depthMaximum else {
            note(PayloadProblem(path, "left out, because it is nested deeper than \(Self.depthMaximum) levels"))
            return nil
        }
        switch found {
        case let text as String: return .text(text)
        case is NSNull: return .null
        case let object as [String: Any]:
            return .object(members(object.map { ($0.key as Any, $0.value) }, at: path, depth: depth))
        case let object as [AnyHashable: Any]:
            return .object(members(object.map { ($0.key.base, $0.value) }, at: path, depth: depth))
        case let elements as [Any]:
            var values: [PayloadValue] = []
            for (index, element) in elements.enumerated() {
                // An element keeps its place, so that others keep theirs.
                values.append(value(element, at: "\(path)[\(index)]", depth: depth + 1) ?? .null)
            }
            return .array(values)
        case let number as NSNumber: return self.number(number, at: path)
        default:
            note(PayloadProblem(path, "left out, because JSON has no \(type(of: found))"))
            return nil
        }
    }

    private mutating func members(
        _ found: [(key: Any, value: Any)], at path: String, depth: Int
    ) -> [String: PayloadValue] {
        var members: [String: PayloadValue] = [:]
        for (key, member) in found {
            guard let name = key as? String else {
                note(PayloadProblem(path, "a member is left out, because its key is no text"))
                continue
            }
            let place = path.isEmpty ? PayloadProblem.printable(name) : "\(path).\(PayloadProblem.printable(name))"
            members[name] = value(member, at: place, depth: depth + 1)
        }
        return members
    }

    private mutating func number(_ number: NSNumber, at path: String) -> PayloadValue? {
        // A truth value is a number, too; only its encoding tells: that of a C `signed char` or `bool`.
        let encoding = String(cString: number.objCType)
        if encoding == "c" || encoding == "B" { return .boolean(number.boolValue) }
        if encoding != "d", encoding != "f", let whole = Int64(exactly: number) { return .integer(whole) }
        // A decimal number knows more digits than its double has.
        if let decimal = number as? NSDecimalNumber {
            if let whole = Int64(decimal.stringValue) { return .integer(whole) }
            if let exact = Double(decimal.stringValue), exact.isFinite { return .of(exact) }
        }
        guard number.doubleValue.isFinite else {
            note(PayloadProblem(path, "left out, because JSON has no \(number.doubleValue)"))
            return nil
        }
        return .of(number.doubleValue)
    }
}
