/// A comparison as written, before its value is known.
struct PredicateOperator {
    /// The kinds of comparisons.
    enum Kind: Equatable {
        case equals
        case differs
        case isLess
        case isAtMost
        case isGreater
        case isAtLeast
        case isIn
        case between
        case beginsWith
        case contains
        case containsText
        case tokenMatches
    }

    /// Which comparison.
    let kind: Kind
    /// The letters in brackets behind it, in lower case.
    let options: String
    /// How it was written, for messages.
    let text: String
    /// Where it was written.
    let start: Int

    /// The meaning of a symbol.
    static func kind(ofSymbol symbol: String) -> Kind? {
        switch symbol {
        case "=", "==": .equals
        case "!=", "<>": .differs
        case "<": .isLess
        case "<=", "=<": .isAtMost
        case ">": .isGreater
        case ">=", "=>": .isAtLeast
        default: nil
        }
    }

    /// The meaning of a word.
    static func kind(ofWord word: PredicateWord) -> Kind? {
        switch word {
        case .isIn: .isIn
        case .between: .between
        case .beginsWith: .beginsWith
        case .contains: .contains
        case .containsText: .containsText
        case .tokenMatches: .tokenMatches
        default: nil
        }
    }

    /// The letters that may stand in brackets; the empty ones are always allowed.
    var optionsAllowed: [String] {
        switch kind {
        case .equals, .differs: ["c", "n"]
        case .isIn, .contains: ["c"]
        // Words are always compared so; older predicates say it.
        case .tokenMatches: ["cd", "cdl"]
        case .isLess, .isAtMost, .isGreater, .isAtLeast, .between, .beginsWith, .containsText: []
        }
    }

    /// The comparison with its sides exchanged: `5 < price` is `price > 5`.
    var flipped: Kind {
        switch kind {
        case .isLess: .isGreater
        case .isAtMost: .isAtLeast
        case .isGreater: .isLess
        case .isAtLeast: .isAtMost
        default: kind
        }
    }
}
