/// A problem with one member of a payload.
public struct PayloadProblem: Hashable, Sendable, CustomStringConvertible {
    /// Where it stands, for example `ck.qry.fo`; empty for the payload as a whole.
    public let path: String
    /// The found value and the expected one, in words.
    public let message: String

    init(_ path: String, _ message: String) {
        self.path = path
        self.message = message
    }

    init(_ path: String, found: PayloadValue, expected: String) {
        self.init(path, "found \(found.shortDescription), expected \(expected)")
    }

    /// The place and the message.
    public var description: String { path.isEmpty ? message : "\(path): \(message)" }

    /// A text from outside, short and without control characters.
    static func printable(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(64).map { $0.value < 0x20 || $0.value == 0x7f ? "?" : Character($0) }
        return String(shown) + (text.unicodeScalars.count > 64 ? "…" : "")
    }
}

/// A payload that cannot be read, because it is no object or lacks what its kind has to have.
public struct PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of mistake.
    public enum Code: Hashable, Sendable {
        /// The bytes are no JSON object, are too long, or are nested too deeply.
        case notReadable
        /// A member that has to be there is missing.
        case memberMissing
        /// A member that has to be there has a value that it cannot have.
        case memberInvalid
    }

    /// The kind of mistake.
    public let code: Code
    /// The place, what was found, and what would be right.
    public let problem: PayloadProblem

    init(_ code: Code, _ problem: PayloadProblem) {
        self.code = code
        self.problem = problem
    }

    /// The place and the message.
    public var description: String { problem.description }
}
