/// Where a function, initializer or accessor-free member begins and ends.
struct FunctionExtent {
    /// Index of the line that holds the keyword, counted from 0.
    let firstLine: Int

    /// Lines from the keyword to the closing brace, both included.
    let lineCount: Int

    /// Finds the functions of a file by counting braces.
    ///
    /// - Parameter codeLines: Lines without comments and literals.
    /// - Returns: The functions, nested ones included.
    static func all(in codeLines: [Substring]) -> [FunctionExtent] {
        codeLines.indices.compactMap { index in
            guard isHead(codeLines[index]), let last = lastLine(from: index, in: codeLines) else {
                return nil
            }
            return FunctionExtent(firstLine: index, lineCount: last - index + 1)
        }
    }

    private static func isHead(_ line: Substring) -> Bool {
        let words = line.split(whereSeparator: { " (<?".contains($0) })
        guard let keyword = words.firstIndex(where: { ["func", "init", "deinit"].contains($0) }) else {
            return false
        }
        return words[..<keyword].allSatisfy { $0.first?.isLowercase == true || $0.hasPrefix("@") }
            && !words[..<keyword].contains(where: { ["let", "var", "return", "try"].contains($0) })
    }

    /// The line that closes the body, or nil for a requirement of a protocol, which has none.
    private static func lastLine(from first: Int, in codeLines: [Substring]) -> Int? {
        let indentation = codeLines[first].prefix { $0 == " " }.count
        var depth = 0
        var hasBody = false
        for index in first..<codeLines.count {
            let line = codeLines[index]
            let lineIndentation = line.prefix { $0 == " " }.count
            if index > first, !hasBody, !line.isEmpty, lineIndentation <= indentation, !continuesHead(line) {
                return nil
            }
            for character in line.utf8 {
                if character == UInt8(ascii: "{") {
                    depth += 1
                    hasBody = true
                } else if character == UInt8(ascii: "}") {
                    depth -= 1
                }
            }
            if hasBody && depth <= 0 {
                return index
            }
        }
        return nil
    }

    private static func continuesHead(_ line: Substring) -> Bool {
        let trimmed = line.drop { $0 == " " }
        return trimmed.hasPrefix(")") || trimmed.hasPrefix("{") || trimmed.hasPrefix("where")
    }
}
