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
    public enum Place: Hashable, Sendable {
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
    public let place: Place?
    /// What is wrong, and what would be right.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, at place: Place? = nil, _ message: String) {
        self.code = code
        self.place = place
        self.message = message
    }

    /// The place, if there is one, and the message.
    public var description: String {
        switch place {
        case .text(let line, let column): "line \(line), column \(column): \(message)"
        case .member(let path): "\(path): \(message)"
        case .byte(let offset): "byte \(offset): \(message)"
        case nil: message
        }
    }

    /// The same error with a place, unless it has one already.
    ///
    /// To find a place costs a walk through the text, so it is looked for only if it is needed.
    func located(at place: @autoclosure () -> Place) -> PredicateError {
        self.place == nil ? PredicateError(code, at: place(), message) : self
    }
}
