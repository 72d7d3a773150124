extension JSONValue {
    /// Whether the value takes no more than so many bytes as JSON without white space, escapes aside.
    ///
    /// The walk ends where the limit is reached, so what is far too large costs no more than what is just too large.
    ///
    /// - Parameter bytesMaximum: the limit.
    /// - Returns: whether it is kept. A number counts as one byte, so what was written is never shorter than what
    ///   counts.
    public func isWritten(withinBytes bytesMaximum: Int) -> Bool {
        let tape = tape
        let end = tape.indexAfter(index)
        var left = bytesMaximum
        var current = index
        while current < end {
            switch tape.type(current) {
            case JSONTape.WordType.string:
                // The quotes.
                left -= tape.string(current).count + 2
                current += 1
            case JSONTape.WordType.signed, JSONTape.WordType.unsigned, JSONTape.WordType.double:
                left -= 1
                current += 2
            // Brackets, of which each has a word at both ends, true, false and null.
            default:
                left -= 1
                current += 1
            }
            guard left >= 0 else { return false }
        }
        return true
    }
}
