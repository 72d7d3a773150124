extension String {
    /// The words of the text in lines of at most so many characters; a longer word has a line of its own.
    ///
    /// - Parameter columns: the length of the longest line.
    /// - Returns: the lines, one at least.
    public func wrapped(columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if !line.isEmpty, line.count + 1 + word.count > columns {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        return lines + [line]
    }
}
