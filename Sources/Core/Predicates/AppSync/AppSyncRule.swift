internal import JSON

/// One comparison of a field in AppSync's way: everything counts, case too.
struct AppSyncRule {
    /// The path of the field, in its form.
    let fieldPath: String
    /// The comparison of the rule.
    let comparison: AppSyncOperator
    /// The value, or the values.
    let value: JSONValue
    /// Where the value lies.
    let valuePath: String

    /// The predicate of the rule.
    func predicate() throws(PredicateError) -> Predicate {
        try PredicateFault.locating(valuePath) { () throws(PredicateError) in
            switch comparison {
            case .equal: try single(.equals(try scalar(), .exact))
            case .notEqual: try single(.equals(try scalar(), .exact), isNegated: true)
            case .lessOrEqual, .less, .greaterOrEqual, .greater: try single(try range())
            case .contains: try contains()
            case .notContains: try contains().negated()
            case .beginsWith: try single(.beginsWith(try text()))
            case .isIn: try single(.isIn(try scalars(AppSyncLimits.valuesMaximum), .exact))
            case .notIn: try single(.isIn(try scalars(AppSyncLimits.valuesMaximum), .exact), isNegated: true)
            case .between: try single(try interval())
            case .containsAny: try single(.listContainsAny(try scalars(AppSyncLimits.containsAnyMaximum), .exact))
            }
        }
    }

    private func single(_ test: FieldTest, isNegated: Bool = false) throws(PredicateError) -> Predicate {
        try Predicate(PredicateTerm(fieldPath, test, isNegated: isNegated))
    }

    /// A part of a text, or a member of a list.
    private func contains() throws(PredicateError) -> Predicate {
        let value = try scalar()
        let member = PredicateTerm(fieldPath, .listContains(value, .exact))
        guard case .string(let text) = value else { return try Predicate(member) }
        return try Predicate(anyOf: [[PredicateTerm(fieldPath, .containsText(text))], [member]])
    }

    private func range() throws(PredicateError) -> FieldTest {
        let isIncluded = comparison == .lessOrEqual || comparison == .greaterOrEqual
        let isLower = comparison == .greater || comparison == .greaterOrEqual
        let bound = ValueRange.Bound(try ordered(value, valuePath), isIncluded: isIncluded)
        return .isInRange(ValueRange(lower: isLower ? bound : nil, upper: isLower ? nil : bound))
    }

    private func interval() throws(PredicateError) -> FieldTest {
        let expected = "an array of two numbers or two strings"
        guard let array = value.array, array.count == 2 else {
            throw PredicateFault.mismatch(valuePath, value, expected, code: .invalidValue)
        }
        var bounds: [ValueRange.Bound] = []
        for (index, member) in array.enumerated() {
            bounds.append(.init(try ordered(member, "\(valuePath)[\(index)]"), isIncluded: true))
        }
        return .isInRange(ValueRange(lower: bounds[0], upper: bounds[1]))
    }

    // MARK: - Values

    private func scalar() throws(PredicateError) -> FieldValue { try Self.scalar(value, valuePath) }

    private func text() throws(PredicateError) -> String {
        guard case .string(let text) = try scalar() else {
            throw PredicateFault.mismatch(valuePath, value, "a string", code: .invalidValue)
        }
        return text
    }

    private func ordered(_ value: JSONValue, _ path: String) throws(PredicateError) -> FieldValue {
        guard value.kind != .boolean else {
            throw PredicateFault.mismatch(path, value, "a number or a string", code: .invalidValue)
        }
        return try Self.scalar(value, path)
    }

    private func scalars(_ countMaximum: Int) throws(PredicateError) -> [FieldValue] {
        let expected = "an array of at most \(countMaximum) strings or numbers"
        guard let array = value.array else {
            throw PredicateFault.mismatch(valuePath, value, expected, code: .invalidValue)
        }
        guard array.count <= countMaximum else {
            throw PredicateError(
                .tooLarge, at: .member(valuePath), "found an array of \(array.count); expected \(expected)")
        }
        var scalars: [FieldValue] = []
        for (index, member) in array.enumerated() {
            scalars.append(try Self.scalar(member, "\(valuePath)[\(index)]"))
        }
        return scalars
    }

    private static func scalar(_ value: JSONValue, _ path: String) throws(PredicateError) -> FieldValue {
        switch value.kind {
        case .string, .integer, .double, .boolean:
            do {
                if let scalar = try FieldValue.plain(value) { return scalar }
            } catch {
                throw PredicateFault.mismatch(error, under: path)
            }
        case .null, .array, .object: break
        }
        throw PredicateFault.mismatch(path, value, "a string, a number, true or false", code: .invalidValue)
    }
}

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

/// How large a filter of AppSync may be.
///
/// The nesting of fields is a term of AWS ("Enhanced subscription filtering"); the other limits are those of AppSync's
/// clients.
public enum AppSyncLimits {
    /// The most filters of a group, any of which suffices.
    public static let filtersMaximum = 10
    /// The most rules of a filter, all of which must hold.
    public static let rulesMaximum = 5
    /// How many values `in` and `notIn` may list.
    public static let valuesMaximum = 5
    /// How many values `containsAny` may list.
    public static let containsAnyMaximum = 20
    /// How deep `and` and `or` of a filter input may lie in each other.
    public static let depthMaximum = 16
}
