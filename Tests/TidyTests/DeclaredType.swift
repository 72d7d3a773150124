/// A type that a file declares or extends at its top level.
struct DeclaredType {
    let name: String
    /// Whether the file only extends it.
    let isExtension: Bool
    /// Whether other targets see it.
    let isPublic: Bool

    private static let keywords: Set<Substring> = [
        "struct", "class", "enum", "protocol", "actor", "typealias", "extension",
    ]

    /// Finds the types at the top level: swift-format indents everything deeper.
    ///
    /// - Parameter codeLines: Lines without comments and literals.
    /// - Returns: The types in order.
    static func all(in codeLines: [Substring]) -> [DeclaredType] {
        codeLines.compactMap { line -> DeclaredType? in
            guard let first = line.first, first != " " else {
                return nil
            }
            let words = line.split(whereSeparator: { " :<{(=".contains($0) })
            guard let keyword = words.firstIndex(where: keywords.contains), keyword + 1 < words.count else {
                return nil
            }
            // A modifier precedes the keyword; anything else there makes the line something else.
            guard words[..<keyword].allSatisfy({ $0.first?.isLowercase == true || $0.hasPrefix("@") }),
                !words[..<keyword].contains(where: { ["func", "let", "var", "import"].contains($0) })
            else {
                return nil
            }
            return DeclaredType(
                name: String(words[keyword + 1].split(separator: ".").last ?? ""),
                isExtension: words[keyword] == "extension",
                isPublic: words[..<keyword].contains { ["public", "package", "open"].contains($0) })
        }
    }
}
