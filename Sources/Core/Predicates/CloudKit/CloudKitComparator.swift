/// The comparators of CloudKit's filters (Apple, "CloudKit Web Services Reference", Filter Dictionary; CloudKit JS has
/// the last).
enum CloudKitComparator: String, CaseIterable {
    case equals = "EQUALS"
    case notEquals = "NOT_EQUALS"
    case lessThan = "LESS_THAN"
    case lessThanOrEquals = "LESS_THAN_OR_EQUALS"
    case greaterThan = "GREATER_THAN"
    case greaterThanOrEquals = "GREATER_THAN_OR_EQUALS"
    case near = "NEAR"
    case containsAllTokens = "CONTAINS_ALL_TOKENS"
    case isIn = "IN"
    case notIn = "NOT_IN"
    case containsAnyTokens = "CONTAINS_ANY_TOKENS"
    case listContains = "LIST_CONTAINS"
    case notListContains = "NOT_LIST_CONTAINS"
    case notListContainsAny = "NOT_LIST_CONTAINS_ANY"
    case beginsWith = "BEGINS_WITH"
    case notBeginsWith = "NOT_BEGINS_WITH"
    case listMemberBeginsWith = "LIST_MEMBER_BEGINS_WITH"
    case notListMemberBeginsWith = "NOT_LIST_MEMBER_BEGINS_WITH"
    case listContainsAll = "LIST_CONTAINS_ALL"
    case notListContainsAll = "NOT_LIST_CONTAINS_ALL"
    case listContainsAny = "LIST_CONTAINS_ANY"

    /// Reads the name of a comparator, also as CKTool JS writes three of them; nil if it is none.
    init?(name: String) {
        switch name {
        case "LIST_NOT_CONTAINS": self = .notListContains
        case "LIST_NOT_CONTAINS_ANY": self = .notListContainsAny
        case "LIST_NOT_CONTAINS_ALL": self = .notListContainsAll
        default: self.init(rawValue: name)
        }
    }

    /// Whether it compares with several values.
    var wantsList: Bool {
        switch self {
        case .isIn, .notIn, .listContainsAny, .notListContainsAny, .listContainsAll, .notListContainsAll: true
        default: false
        }
    }

    /// Whether it searches for words.
    var searches: Bool { self == .containsAllTokens || self == .containsAnyTokens }
}
