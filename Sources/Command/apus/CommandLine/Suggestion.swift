import PushCore

/// "Did you mean ...?" for a word that is not known.
enum Suggestion {
    /// The end of the sentence, or nothing if no known word is near.
    static func text(for word: String, among known: [String], prefix: String = "") -> String {
        guard let nearest = SpellingSuggestion.nearest(to: word, among: known) else { return "" }
        return ", did you mean '\(prefix)\(nearest)'?"
    }
}
