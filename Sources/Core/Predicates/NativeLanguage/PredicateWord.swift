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
