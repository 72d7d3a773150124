/// A condition as it was written, before it is brought into normal form.
indirect enum ParsedCondition {
    /// A predicate of one test.
    case single(Predicate)
    /// All of several; where the first joining word stands.
    case all([ParsedCondition], at: Int)
    /// One of several; where the first joining word stands.
    case any([ParsedCondition], at: Int)
    /// The opposite; where its word stands.
    case not(ParsedCondition, at: Int)

    /// The predicate that it means.
    ///
    /// - Parameter lexer: names the places of faults.
    /// - Returns: the predicate.
    /// - Throws: `PredicateError` `.tooLarge`.
    func predicate(_ lexer: PredicateLexer) throws(PredicateError) -> Predicate {
        switch self {
        case .single(let predicate): return predicate
        case .all(let conditions, let start):
            let predicates = try Self.predicates(conditions, lexer)
            return try Self.located(lexer, start) { () throws(PredicateError) in try Predicate.all(of: predicates) }
        case .any(let conditions, let start):
            let predicates = try Self.predicates(conditions, lexer)
            return try Self.located(lexer, start) { () throws(PredicateError) in try Predicate.any(of: predicates) }
        // Twice not is nothing, and must not make a predicate larger on its way.
        case .not(.not(let condition, _), _): return try condition.predicate(lexer)
        case .not(let condition, let start):
            let predicate = try condition.predicate(lexer)
            return try Self.located(lexer, start) { () throws(PredicateError) in try predicate.negated() }
        }
    }

    private static func predicates(
        _ conditions: [ParsedCondition], _ lexer: PredicateLexer
    ) throws(PredicateError) -> [Predicate] {
        var predicates: [Predicate] = []
        for condition in conditions { predicates.append(try condition.predicate(lexer)) }
        return predicates
    }

    private static func located(
        _ lexer: PredicateLexer, _ start: Int, _ make: () throws(PredicateError) -> Predicate
    ) throws(PredicateError) -> Predicate {
        do {
            return try make()
        } catch {
            throw error.located(at: lexer.place(of: start))
        }
    }
}
