/// The words of a text as a search looks for them: without case, diacritics, punctuation and stop words.
public enum SearchTokens {
    /// Words that say too little to be searched for (CKQuery's list).
    public static let stopWords: Set<String> = [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
        "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was",
        "will", "with",
    ]

    /// The distinct words of a text, in the order of their first appearance.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - countMaximum: after how many words to stop.
    /// - Returns: the words, each in the form `TextForm.searchFolded`.
    public static func of(_ text: String, countMaximum: Int = .max) -> [String] {
        var tokens: [String] = []
        var seen: Set<String> = []
        let folded = TextForm.searchFolded.applied(to: text)
        for word in folded.unicodeScalars.split(whereSeparator: { !isPartOfWord($0) }) {
            guard tokens.count < countMaximum else { break }
            let token = String(word)
            guard !stopWords.contains(token), seen.insert(token).inserted else { continue }
            tokens.append(token)
        }
        return tokens
    }

    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || scalar.properties.generalCategory == .nonspacingMark
    }
}
