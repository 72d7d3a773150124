/// Parses the text of a predicate (`Predicate.init(parsing:)` describes the language).
struct PredicateParser {
    /// How many parentheses and NOTs may lie in each other.
    static let depthMaximum = 64

    private(set) var lexer: PredicateLexer
    /// The token that is looked at.
    private(set) var token = PredicateToken(kind: .end, start: 0)
    private var depth = 0
    private var work = NormalizationWork()

    init(_ text: String) { lexer = PredicateLexer(text) }

    /// Reads the whole text.
    mutating func parse() throws(PredicateError) -> Predicate {
        try advance()
        let condition = try parseAlternatives()
        guard token.kind == .end else { throw unexpected("AND, OR or the end") }
        return try condition.predicate(lexer, &work)
    }

    // MARK: - Tokens

    mutating func advance() throws(PredicateError) { token = try lexer.next() }

    /// Goes on if the token is this one.
    mutating func accept(_ kind: PredicateToken.Kind) throws(PredicateError) -> Bool {
        guard token.kind == kind else { return false }
        try advance()
        return true
    }

    mutating func accept(_ symbol: String) throws(PredicateError) -> Bool { try accept(.symbol(symbol)) }

    mutating func expect(_ symbol: String, _ expected: String? = nil) throws(PredicateError) {
        guard try accept(symbol) else { throw unexpected(expected ?? symbol) }
    }

    /// Whether a parenthesis follows the token: then a name is that of a function.
    func isCall() throws(PredicateError) -> Bool {
        var ahead = lexer
        return try ahead.next().kind == .symbol("(")
    }

    func unexpected(_ expected: String) -> PredicateError {
        lexer.fault(.invalidSyntax, at: token.start, "\(token.found); expected \(expected)")
    }

    // MARK: - Conditions

    private mutating func parseAlternatives() throws(PredicateError) -> ParsedCondition {
        var conditions = [try parseConjunction()]
        let start = token.start
        while isAt(.or, "||") {
            try advance()
            conditions.append(try parseConjunction())
        }
        return conditions.count == 1 ? conditions[0] : .any(conditions, at: start)
    }

    private mutating func parseConjunction() throws(PredicateError) -> ParsedCondition {
        var conditions = [try parseCondition()]
        let start = token.start
        while isAt(.and, "&&") {
            try advance()
            conditions.append(try parseCondition())
        }
        return conditions.count == 1 ? conditions[0] : .all(conditions, at: start)
    }

    private func isAt(_ word: PredicateWord, _ symbol: String) -> Bool {
        token.kind == .word(word) || token.kind == .symbol(symbol)
    }

    private mutating func parseCondition() throws(PredicateError) -> ParsedCondition {
        let start = token.start
        guard depth < Self.depthMaximum else {
            throw lexer.fault(
                .tooLarge, at: start, "more than \(Self.depthMaximum) parentheses and NOTs lie in each other")
        }
        depth += 1
        defer { depth -= 1 }
        if isAt(.not, "!") {
            try advance()
            return .not(try parseCondition(), at: start)
        }
        if try accept("(") {
            let condition = try parseAlternatives()
            try expect(")", "AND, OR or )")
            return condition
        }
        do {
            try work.spendCondition()
        } catch {
            throw error.located(at: lexer.location(of: start))
        }
        if try accept(.word(.truePredicate)) { return .single(.always) }
        if try accept(.word(.falsePredicate)) { return .single(.never) }
        let term = try parseComparison()
        do {
            return .single(try Predicate(term))
        } catch {
            throw error.located(at: lexer.location(of: start))
        }
    }
}
