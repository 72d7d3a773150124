import Essentials
public import JSON

extension Predicate {
    /// Reads a predicate from the filter input of Amplify's model subscriptions.
    ///
    ///     {"severity": {"ge": 7}, "or": [{"team": {"eq": "red"}}, {"team": {"eq": "blue"}}]}
    ///
    /// It means what AppSync's `toSubscriptionFilter` makes of it: different fields, and what `and` and `or` say, must
    /// all hold; **of several operators on one field one suffices**. So `{"age": {"ge": 18, "lt": 65}}` holds for every
    /// age; for a range write `between`, or `{"and": [{"age": {"ge": 18}}, {"age": {"lt": 65}}]}`. The operators are
    /// those of a filter group (`init(filterGroup:path:)`).
    ///
    /// An empty filter, or `null` in its place, sets no filter, as in the resolvers that Amplify makes: every record
    /// satisfies it. Within a filter `null` and `{}` are refused. AppSync gives `null` a meaning of its own ("a null
    /// argument has meaning"). Leaving such a part out would widen the client's condition.
    ///
    /// - Parameters:
    ///   - filterInput: the object, or `null`.
    ///   - path: where it lies, for messages.
    /// - Throws: `PredicateError` with the path of the member that is wrong: `filter.or[1].team.eq`.
    public init(filterInput: JSONValue, path: String = "filter") throws(PredicateError) {
        try PredicateFault.checkWritten(filterInput, at: path)
        var work = NormalizationWork()
        let isEmpty = filterInput.isNull || filterInput.object?.isEmpty == true
        self = isEmpty ? .always : try Self.input(filterInput, path, depth: 1, &work)
    }

    private static func input(
        _ json: JSONValue, _ path: String, depth: Int, _ work: inout NormalizationWork
    ) throws(PredicateError) -> Predicate {
        guard depth <= AppSyncLimits.depthMaximum else {
            throw PredicateError(
                .tooLarge, at: .member(path),
                "more than \(AppSyncLimits.depthMaximum) of and and or lie in each other")
        }
        let object = try members(of: json, path, "an object of fields with operators, and, or")
        var predicates: [Predicate] = []
        for member in object {
            guard predicates.count < PredicateLimits.conjunctionsMaximum else {
                throw PredicateError(.tooLarge, at: .member(path), "there are too many conditions")
            }
            if member.isNamed("and") {
                predicates.append(try joined(member.value, "\(path).and", depth, &work, Predicate.all))
            } else if member.isNamed("or") {
                predicates.append(try joined(member.value, "\(path).or", depth, &work, Predicate.any))
            } else {
                predicates.append(try field(member, path, &work))
            }
        }
        return try PredicateFault.locating(path) { () throws(PredicateError) in
            try Predicate.all(of: predicates, &work)
        }
    }

    /// The object, which has one member at least, because an empty one would hold for every record.
    private static func members(
        of json: JSONValue, _ path: String, _ expected: String
    ) throws(PredicateError) -> JSONObject {
        guard let object = json.object, !object.isEmpty else {
            throw PredicateFault.mismatch(path, json, expected)
        }
        return object
    }

    /// The operand of `and` and `or`: an array, or one object, which GraphQL reads as an array of one.
    private static func joined(
        _ json: JSONValue, _ path: String, _ depth: Int, _ work: inout NormalizationWork,
        _ join: ([Predicate], inout NormalizationWork) throws(PredicateError) -> Predicate
    ) throws(PredicateError) -> Predicate {
        guard let array = json.array else { return try input(json, path, depth: depth + 1, &work) }
        guard !array.isEmpty else { throw PredicateFault.mismatch(path, json, "an array of one filter at least") }
        var predicates: [Predicate] = []
        for (index, element) in array.enumerated() {
            guard index < PredicateLimits.conjunctionsMaximum else {
                throw PredicateError(.tooLarge, at: .member("\(path)[\(index)]"), "there are too many filters")
            }
            predicates.append(try input(element, "\(path)[\(index)]", depth: depth + 1, &work))
        }
        return try PredicateFault.locating(path) { () throws(PredicateError) in try join(predicates, &work) }
    }

    private static func field(
        _ member: JSONMember, _ path: String, _ work: inout NormalizationWork
    ) throws(PredicateError) -> Predicate {
        let fieldPath = try PredicateFault.fieldPath(member.keyValue, at: path)
        let path = "\(path).\(fieldPath)"
        let operators = try members(of: member.value, path, "an object of operators, such as {\"eq\": 1}")
        var alternatives: [Predicate] = []
        for member in operators {
            guard let comparison = AppSyncOperator(rawValue: member.key) else {
                throw PredicateError(
                    .invalidOperator, at: .member(path),
                    "found the operator \(member.key.excerpt); expected \(AppSyncOperator.expected)")
            }
            try PredicateFault.locating(path) { () throws(PredicateError) in try work.spendCondition() }
            let rule = AppSyncRule(
                fieldPath: fieldPath, comparison: comparison, value: member.value,
                valuePath: "\(path).\(comparison.rawValue)")
            alternatives.append(try rule.predicate())
        }
        return try PredicateFault.locating(path) { () throws(PredicateError) in try Predicate.any(of: alternatives) }
    }
}
