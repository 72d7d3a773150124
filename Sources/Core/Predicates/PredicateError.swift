import Essentials
internal import JSON

/// Why something is not a predicate that Apus can evaluate.
public struct PredicateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The machine-readable reasons.
    public enum Code: String, CaseIterable, Sendable {
        /// The text breaks the grammar of its language, or the JSON has a shape that it must not have.
        case invalidSyntax = "invalid-syntax"
        /// The path of a field is none.
        case invalidPath = "invalid-path"
        /// The operator is unknown, or cannot be used with this field or value.
        case invalidOperator = "invalid-operator"
        /// The value cannot be compared with, or not by this operator.
        case invalidValue = "invalid-value"
        /// A limit of `PredicateLimits`, or of the language, is exceeded.
        case tooLarge = "too-large"
        /// The bytes are no canonical form.
        case notCanonical = "not-canonical"
    }

    /// Where the fault is.
    public enum Location: Hashable, Sendable {
        /// In a text: its line, and the character in that line, both counted from one.
        case text(line: Int, column: Int)
        /// In a JSON document, for example `filterBy[2].comparator`.
        case member(String)
        /// In bytes, counted from zero.
        case byte(Int)
    }

    /// The machine-readable reason.
    public let code: Code
    /// Where the fault is; nil if it is in the predicate as a whole.
    public let location: Location?
    /// The problem, and the expected text.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, at location: Location? = nil, _ message: String) {
        self.code = code
        self.location = location
        self.message = message
    }

    /// The location, if there is one, and the message.
    public var description: String {
        switch location {
        case .text(let line, let column): "line \(line), column \(column): \(message)"
        case .member(let path): "\(path): \(message)"
        case .byte(let offset): "byte \(offset): \(message)"
        case nil: message
        }
    }

    /// The same error with a location, unless it has one already.
    ///
    /// To find the location costs a walk through the text, so it is evaluated only if it is needed.
    func located(at location: @autoclosure () -> Location) -> PredicateError {
        self.location == nil ? PredicateError(code, at: location(), message) : self
    }
}

/// Makes the errors of predicates that are written in JSON: each names the path of a member.
enum PredicateFault {
    /// Something that is there and should be something else.
    static func mismatch(
        _ path: String, _ found: JSONValue, _ expected: String, code: PredicateError.Code = .invalidSyntax
    ) -> PredicateError {
        PredicateError(code, at: .member(path), "found \(found.kindDescription); expected \(expected)")
    }

    static func mismatch(_ mismatch: ValueMismatch, under path: String) -> PredicateError {
        PredicateError(
            .invalidValue, at: .member(path + mismatch.path), "found \(mismatch.found); expected \(mismatch.expected)")
    }

    static func missing(_ path: String, _ expected: String) -> PredicateError {
        PredicateError(.invalidSyntax, at: .member(path), "it is missing; expected \(expected)")
    }

    /// Refuses an object with an unknown member, because its meaning would be lost.
    static func allow(
        _ names: [StaticString], in object: JSONObject, _ path: String
    ) throws(PredicateError) {
        if let name = object.firstMember(notAmong: names)?.key {
            let expected = names.map { "\($0)" }.joined(separator: ", ")
            throw PredicateError(
                .invalidSyntax, at: .member(path), "found the unknown member \(name.excerpt); expected \(expected)")
        }
    }

    /// Runs a closure whose errors have no location yet, and adds the path to them.
    static func locating<Result>(
        _ path: String, _ body: () throws(PredicateError) -> Result
    ) throws(PredicateError) -> Result {
        do {
            return try body()
        } catch {
            throw error.located(at: .member(path))
        }
    }

    /// Checks how much is written, before any of it is read.
    static func checkWritten(byteCount: Int) throws(PredicateError) {
        guard byteCount <= PredicateLimits.writtenBytesMaximum else {
            throw PredicateError(
                .tooLarge,
                "the predicate is longer than \(PredicateLimits.writtenBytesMaximum) bytes, the most that is accepted")
        }
    }

    /// Checks how much is written as JSON, before any of it is read.
    static func checkWritten(_ value: JSONValue, at path: String) throws(PredicateError) {
        guard value.isWritten(withinBytes: PredicateLimits.writtenBytesMaximum) else {
            throw PredicateError(
                .tooLarge, at: .member(path),
                "it is longer than \(PredicateLimits.writtenBytesMaximum) bytes, the most that is accepted")
        }
    }

    /// The path of a field, in its form.
    static func fieldPath(_ value: JSONValue, at path: String) throws(PredicateError) -> String {
        guard let text = value.string, !text.isEmpty else { throw mismatch(path, value, "the name of a field") }
        return try locating(path) { () throws(PredicateError) in try PredicateTerm.normalizedPath(text) }
    }
}
