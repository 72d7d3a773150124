/// A text is not a TOML document.
public struct TOMLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, in the parser's words.
    public let message: String
    /// The line at which it was noticed, from 1; 0 if it concerns the whole text.
    public let line: Int
    /// The column at which it was noticed, from 1; 0 if it concerns the whole text.
    public let column: Int

    /// The place and the message.
    public var description: String { line > 0 ? "line \(line), column \(column): \(message)" : message }
}
