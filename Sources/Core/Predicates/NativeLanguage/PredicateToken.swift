import Essentials

/// A token of a predicate's text.
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

    /// The kind of the token.
    let kind: Kind
    /// Where it begins: the number of Unicode scalars before it.
    let start: Int

    /// The found token, for messages.
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

/// The words that the language of predicates keeps for itself, in any mix of upper and lower case.
enum PredicateWord: String, CaseIterable {
    case and = "AND"
    case or = "OR"
    case not = "NOT"
    case any = "ANY"
    case some = "SOME"
    case all = "ALL"
    case none = "NONE"
    case isIn = "IN"
    case between = "BETWEEN"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    case containsText = "CONTAINSTEXT"
    case tokenMatches = "TOKENMATCHES"
    case like = "LIKE"
    case matches = "MATCHES"
    case truePredicate = "TRUEPREDICATE"
    case falsePredicate = "FALSEPREDICATE"
    case yes = "YES"
    case no = "NO"
    case isTrue = "TRUE"
    case isFalse = "FALSE"
    case null = "NULL"
    case nothing = "NIL"
    case this = "SELF"

    /// The word that a name is; nil if it is a name like any other.
    init?(name: String) {
        // No word is longer, and only names in ASCII can be words.
        guard name.utf8.count <= 14, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        self.init(rawValue: name.uppercased())
    }
}
