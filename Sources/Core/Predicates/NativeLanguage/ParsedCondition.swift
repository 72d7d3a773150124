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
    /// - Parameters:
    ///   - lexer: names the places of faults.
    ///   - work: counts the cost.
    /// - Returns: the predicate.
    /// - Throws: `PredicateError` `.tooLarge`.
    func predicate(_ lexer: PredicateLexer, _ work: inout NormalizationWork) throws(PredicateError) -> Predicate {
        switch self {
        case .single(let predicate): return predicate
        // Twice not is nothing, and must not make a predicate larger on its way.
        case .not(.not(let condition, _), _): return try condition.predicate(lexer, &work)
        case .all(let conditions, let start):
            let predicates = try Self.predicates(conditions, lexer, &work)
            do {
                return try Predicate.all(of: predicates, &work)
            } catch {
                throw error.located(at: lexer.location(of: start))
            }
        case .any(let conditions, let start):
            let predicates = try Self.predicates(conditions, lexer, &work)
            do {
                return try Predicate.any(of: predicates, &work)
            } catch {
                throw error.located(at: lexer.location(of: start))
            }
        case .not(let condition, let start):
            let predicate = try condition.predicate(lexer, &work)
            do {
                return try predicate.negated(&work)
            } catch {
                throw error.located(at: lexer.location(of: start))
            }
        }
    }

    private static func predicates(
        _ conditions: [ParsedCondition], _ lexer: PredicateLexer, _ work: inout NormalizationWork
    ) throws(PredicateError) -> [Predicate] {
        var predicates: [Predicate] = []
        for condition in conditions { predicates.append(try condition.predicate(lexer, &work)) }
        return predicates
    }
}
