import Essentials
internal import UnicodeText

extension Predicate {
    /// Creates the predicate that holds where one of the conjunctions does, in normal form.
    ///
    /// The steps of normalization, which keep the meaning for every record:
    ///
    /// - Text and paths become NFC; text whose case does not count is folded.
    /// - Members, terms and conjunctions are sorted by their canonical bytes, without duplicates.
    /// - `IN` of one value becomes equality.
    /// - Ranges of one field are intersected with each other and with its possible values; those values are, too.
    /// - A conjunction that contradicts itself is removed, and so is one that has all terms of another.
    /// - A predicate that always holds becomes `always`.
    ///
    /// - Parameter conjunctions: conjunctions of terms, in any form and order.
    /// - Throws: `PredicateError`: `.invalidPath`, `.invalidValue`, or `.tooLarge` if a limit of `PredicateLimits` is
    ///   exceeded.
    public init(anyOf conjunctions: [[PredicateTerm]]) throws(PredicateError) {
        guard conjunctions.count <= PredicateLimits.intermediateConjunctionsMaximum else {
            throw Self.tooManyConjunctions(conjunctions.count)
        }
        var work = NormalizationWork()
        var normal: [NormalConjunction] = []
        for terms in conjunctions {
            if let conjunction = try NormalConjunction.of(terms, &work) { normal.append(conjunction) }
        }
        try self.init(anyOf: normal)
    }

    /// Creates the predicate of a single test.
    ///
    /// - Throws: `PredicateError` as `init(anyOf:)`.
    public init(_ term: PredicateTerm) throws(PredicateError) { try self.init(anyOf: [[term]]) }

    /// The predicate that holds where this one and another do.
    ///
    /// - Throws: `PredicateError` `.tooLarge`, if the result or an intermediate result exceeds a limit.
    public func and(_ other: Predicate) throws(PredicateError) -> Predicate { try .all(of: [self, other]) }

    /// The predicate that holds where this one or another does.
    ///
    /// - Throws: `PredicateError` `.tooLarge`, if the result exceeds a limit.
    public func or(_ other: Predicate) throws(PredicateError) -> Predicate { try .any(of: [self, other]) }

    /// The predicate that holds exactly where this one does not.
    ///
    /// - Throws: `PredicateError` `.tooLarge`, if the result or an intermediate result exceeds a limit.
    public func negated() throws(PredicateError) -> Predicate {
        var work = NormalizationWork()
        return try negated(&work)
    }

    /// The predicate that holds where one of several does; none of them makes `never`.
    ///
    /// - Throws: `PredicateError` `.tooLarge`, if the result exceeds a limit.
    public static func any(of predicates: [Predicate]) throws(PredicateError) -> Predicate {
        var work = NormalizationWork()
        return try any(of: predicates, &work)
    }

    /// The predicate that holds where all of several do; none of them makes `always`.
    ///
    /// - Throws: `PredicateError` `.tooLarge`, if the result or an intermediate result exceeds a limit.
    public static func all(of predicates: [Predicate]) throws(PredicateError) -> Predicate {
        var work = NormalizationWork()
        return try all(of: predicates, &work)
    }

    // MARK: - With the work counted

    func negated(_ work: inout NormalizationWork) throws(PredicateError) -> Predicate {
        var result = [NormalConjunction()]
        for terms in conjunctions {
            let opposites = terms.map { term in
                NormalConjunction(normal: [PredicateTerm(term.path, term.test, isNegated: !term.isNegated)])
            }
            result = try Self.product(result, opposites, &work)
        }
        return try Predicate(anyOf: result)
    }

    static func any(
        of predicates: [Predicate], _ work: inout NormalizationWork
    ) throws(PredicateError) -> Predicate {
        let conjunctions = predicates.flatMap(\.normalConjunctions)
        guard conjunctions.count <= PredicateLimits.intermediateConjunctionsMaximum else {
            throw tooManyConjunctions(conjunctions.count)
        }
        for conjunction in conjunctions {
            for term in conjunction.terms { try work.spend(term, among: conjunction.terms.count) }
        }
        return try Predicate(anyOf: conjunctions)
    }

    static func all(
        of predicates: [Predicate], _ work: inout NormalizationWork
    ) throws(PredicateError) -> Predicate {
        var result = [NormalConjunction()]
        for predicate in predicates { result = try product(result, predicate.normalConjunctions, &work) }
        return try Predicate(anyOf: result)
    }

    // MARK: - The steps

    private var normalConjunctions: [NormalConjunction] { conjunctions.map(NormalConjunction.init(normal:)) }

    private init(anyOf conjunctions: [NormalConjunction]) throws(PredicateError) {
        let reduced = try Self.reduced(conjunctions)
        self.init(normalized: reduced.map { $0.terms.map(\.term) })
        // The version, and counts: no count that is allowed here takes more than a byte.
        let byteCount = reduced.reduce(2) { sum, conjunction in
            conjunction.terms.reduce(sum + 1) { $0 + $1.bytes.count }
        }
        guard byteCount <= PredicateLimits.canonicalBytesMaximum else {
            throw PredicateError(
                .tooLarge,
                "the predicate takes \(byteCount) bytes; at most \(PredicateLimits.canonicalBytesMaximum) are accepted")
        }
    }

    /// Every conjunction of one side joined with every one of the other, reduced.
    private static func product(
        _ left: [NormalConjunction], _ right: [NormalConjunction], _ work: inout NormalizationWork
    ) throws(PredicateError) -> [NormalConjunction] {
        guard left.count * right.count <= PredicateLimits.intermediateConjunctionsMaximum else {
            throw tooManyConjunctions(left.count * right.count)
        }
        var product: [NormalConjunction] = []
        for conjunction in left {
            for other in right {
                if let both = try conjunction.union(other, &work) { product.append(both) }
            }
        }
        return try reduced(product)
    }

    /// Sorts conjunctions, and removes duplicates and those that hold only where another does.
    private static func reduced(_ conjunctions: [NormalConjunction]) throws(PredicateError) -> [NormalConjunction] {
        let distinct = Set(conjunctions)
        let single = Set(distinct.filter { $0.terms.count == 1 }.flatMap(\.terms))
        if single.contains(where: { single.contains($0.opposite) }) { return [NormalConjunction()] }
        var kept: [NormalConjunction] = []
        // Shorter ones first: only they can make longer ones superfluous.
        for conjunction in distinct.sorted(by: { $0.terms.count < $1.terms.count }) {
            if kept.contains(where: { $0.isSubset(of: conjunction) }) { continue }
            kept.append(conjunction)
            guard kept.count <= PredicateLimits.conjunctionsMaximum else { throw tooManyConjunctions(distinct.count) }
        }
        return kept.sorted { left, right in left.terms.lexicographicallyPrecedes(right.terms) }
    }

    private static func tooManyConjunctions(_ count: Int) -> PredicateError {
        PredicateError(
            .tooLarge,
            "there are \(count) alternatives when everything is written as an OR of ANDs;"
                + " at most \(PredicateLimits.conjunctionsMaximum) are accepted")
    }
}

extension PredicateTerm {
    /// Brings the path of a field into its form.
    ///
    /// - Parameter path: the path; empty for all fields.
    /// - Returns: the path in NFC.
    /// - Throws: `PredicateError` `.invalidPath` or `.tooLarge`.
    static func normalizedPath(_ path: String) throws(PredicateError) -> String {
        guard path.utf8.count <= PredicateLimits.pathBytesMaximum else { throw pathTooLong(path.utf8.count) }
        let path = TextForm.canonical.applied(to: path)
        guard path.utf8.count <= PredicateLimits.pathBytesMaximum else { throw pathTooLong(path.utf8.count) }
        guard !path.isEmpty else { return path }
        guard !path.utf8.contains(0) else {
            throw PredicateError(.invalidPath, "the name of a field must not have a NUL in it")
        }
        let names = path.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard names.allSatisfy({ !$0.isEmpty }) else {
            throw PredicateError(
                .invalidPath,
                "\(path.excerpt) is no path of a field; it must be names with periods between, such as author.name"
            )
        }
        guard names.count <= PredicateLimits.pathNamesMaximum else {
            throw PredicateError(
                .tooLarge,
                "\(path.excerpt) has \(names.count) names; at most \(PredicateLimits.pathNamesMaximum) are accepted"
            )
        }
        return path
    }

    private static func pathTooLong(_ byteCount: Int) -> PredicateError {
        PredicateError(
            .tooLarge,
            "the path of a field takes \(byteCount) bytes; at most \(PredicateLimits.pathBytesMaximum) are accepted")
    }
}
