/// The operators of AppSync's filters (AWS, "Enhanced subscription filtering").
enum AppSyncOperator: String, CaseIterable {
    case equal = "eq"
    case notEqual = "ne"
    case lessOrEqual = "le"
    case less = "lt"
    case greaterOrEqual = "ge"
    case greater = "gt"
    case contains = "contains"
    case notContains = "notContains"
    case beginsWith = "beginsWith"
    case isIn = "in"
    case notIn = "notIn"
    case between = "between"
    case containsAny = "containsAny"

    /// For messages: all names.
    static let expected = "one of \(allCases.map(\.rawValue).joined(separator: ", "))"
}
