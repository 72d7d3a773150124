import Essentials

/// What a predicate's text is made of.
struct PredicateToken {
    /// The kinds of tokens.
    enum Kind: Equatable {
        /// A word of the language.
        case word(PredicateWord)
        /// The path of a field, or the name of a function.
        case name(String)
        /// CKQuery's function of two places, with its colons.
        case distance
        /// A text in quotes.
        case text(String)
        /// A number.
        case number(FieldValue)
        /// Punctuation and operators: `<=`.
        case symbol(String)
        /// Nothing more.
        case end
    }

    /// What it is.
    let kind: Kind
    /// Where it begins: the number of Unicode scalars before it.
    let start: Int

    /// For messages: what was found.
    var found: String {
        switch kind {
        case .word(let word): "found \(word.rawValue)"
        case .name(let name): "found the name \(name.excerpt)"
        case .distance: "found distanceToLocation:fromLocation:"
        case .text(let text): "found the text \(text.excerpt)"
        case .number(let value): "found the number \(PredicatePrinter.text(of: value))"
        case .symbol(let symbol): "found \(symbol)"
        case .end: "the predicate ends"
        }
    }
}
