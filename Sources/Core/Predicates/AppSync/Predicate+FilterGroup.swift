import Essentials
public import JSON

extension Predicate {
    /// Reads a predicate from AppSync's group of filters, one of which must hold.
    ///
    ///     {"filterGroup": [{"filters": [{"fieldName": "severity", "operator": "ge", "value": 7}]}]}
    ///
    /// | operator | value | holds where |
    /// |---|---|---|
    /// | `eq`, `ne` | string, number, boolean | the field equals it, or not; case counts |
    /// | `le`, `lt`, `ge`, `gt` | string, number | they are in that order; texts by their bytes |
    /// | `between` | array of two | it lies between, ends included |
    /// | `in`, `notIn` | array of at most five | it equals one of them, or none |
    /// | `contains`, `notContains` | string, number, boolean | the text has that part or the list that member, or not |
    /// | `containsAny` | array of at most twenty | the list has one of them |
    /// | `beginsWith` | string | the text begins so |
    ///
    /// All rules of a filter must hold. A negative operator holds for records without the field too.
    ///
    /// - Parameters:
    ///   - filterGroup: the array of filters, or an object whose only known member it is.
    ///   - path: where it lies, for messages.
    /// - Throws: `PredicateError` with the path of the member that is wrong: `filterGroup[0].filters[1].operator`.
    public init(filterGroup: JSONValue, path: String = "filterGroup") throws(PredicateError) {
        try PredicateFault.checkWritten(filterGroup, at: path)
        let isWrapped = filterGroup.object?["filterGroup"] != nil
        let path = isWrapped ? "\(path).filterGroup" : path
        let group = isWrapped ? filterGroup.object?["filterGroup"] ?? filterGroup : filterGroup
        guard let filters = group.array, !filters.isEmpty else {
            throw PredicateFault.mismatch(path, group, "an array of objects with filters")
        }
        var alternatives: [Predicate] = []
        for (index, filter) in filters.enumerated() {
            guard index < AppSyncLimits.filtersMaximum else {
                throw PredicateError(
                    .tooLarge, at: .member("\(path)[\(index)]"),
                    "a group may have at most \(AppSyncLimits.filtersMaximum) filters")
            }
            alternatives.append(try Self.filter(filter, "\(path)[\(index)]"))
        }
        self = try PredicateFault.locating(path) { () throws(PredicateError) in try Predicate.any(of: alternatives) }
    }

    private static func filter(_ filter: JSONValue, _ path: String) throws(PredicateError) -> Predicate {
        guard let object = filter.object else {
            throw PredicateFault.mismatch(path, filter, "an object with filters")
        }
        let path = "\(path).filters"
        let expected = "an array of rules, each with fieldName, operator and value"
        guard let value = object["filters"] else { throw PredicateFault.missing(path, expected) }
        guard let rules = value.array, !rules.isEmpty else { throw PredicateFault.mismatch(path, value, expected) }
        var predicates: [Predicate] = []
        for (index, rule) in rules.enumerated() {
            guard index < AppSyncLimits.rulesMaximum else {
                throw PredicateError(
                    .tooLarge, at: .member("\(path)[\(index)]"),
                    "a filter may have at most \(AppSyncLimits.rulesMaximum) rules")
            }
            predicates.append(try Self.rule(rule, "\(path)[\(index)]").predicate())
        }
        return try PredicateFault.locating(path) { () throws(PredicateError) in try Predicate.all(of: predicates) }
    }

    private static func rule(_ rule: JSONValue, _ path: String) throws(PredicateError) -> AppSyncRule {
        guard let object = rule.object else {
            throw PredicateFault.mismatch(path, rule, "an object with fieldName, operator and value")
        }
        guard let fieldName = object["fieldName"] else {
            throw PredicateFault.missing("\(path).fieldName", "the name of a field")
        }
        let fieldPath = try PredicateFault.fieldPath(fieldName, at: "\(path).fieldName")
        guard let operatorName = object["operator"] else {
            throw PredicateFault.missing("\(path).operator", AppSyncOperator.expected)
        }
        guard let name = operatorName.string else {
            throw PredicateFault.mismatch("\(path).operator", operatorName, AppSyncOperator.expected)
        }
        guard let comparison = AppSyncOperator(rawValue: name) else {
            throw PredicateError(
                .invalidOperator, at: .member("\(path).operator"),
                "found \(name.excerpt); expected \(AppSyncOperator.expected)")
        }
        guard let value = object["value"] else {
            throw PredicateFault.missing("\(path).value", "what \(comparison.rawValue) compares with")
        }
        return AppSyncRule(fieldPath: fieldPath, comparison: comparison, value: value, valuePath: "\(path).value")
    }
}
