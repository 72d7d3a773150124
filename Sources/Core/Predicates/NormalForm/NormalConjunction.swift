/// Terms that must all hold, put into normal form as they come in.
struct NormalConjunction: Hashable {
    /// The terms with their canonical bytes, in the order of those, each once.
    private(set) var terms: [CanonicalTerm] = []

    /// The conjunction that always holds.
    init() {}

    /// Takes terms that are in normal form, as those of a predicate are.
    init(normal terms: [PredicateTerm]) { self.terms = terms.map(CanonicalTerm.init) }

    /// Brings terms into normal form.
    ///
    /// - Parameters:
    ///   - terms: the terms, in any form and order.
    ///   - work: counts the cost.
    /// - Returns: the conjunction; nil if the terms contradict each other, as far as that is seen.
    /// - Throws: `PredicateError` if a term is none, or there are too many.
    static func of(
        _ terms: [PredicateTerm], _ work: inout NormalizationWork
    ) throws(PredicateError) -> NormalConjunction? {
        guard terms.count <= PredicateLimits.intermediateTermsMaximum else { throw tooManyTerms(terms.count) }
        var conjunction = NormalConjunction()
        for term in terms {
            guard try conjunction.insert(term, &work) else { return nil }
        }
        return try conjunction.isWithinLimits()
    }

    /// Both conjunctions together; nil if they contradict each other.
    func union(
        _ other: NormalConjunction, _ work: inout NormalizationWork
    ) throws(PredicateError) -> NormalConjunction? {
        var union = self
        for term in other.terms {
            guard try union.insert(term, &work) else { return nil }
        }
        return try union.isWithinLimits()
    }

    /// Whether the other conjunction has all the terms of this one, and so is at least as narrow.
    func isSubset(of other: NormalConjunction) -> Bool {
        guard terms.count <= other.terms.count else { return false }
        var index = 0
        for term in terms {
            while index < other.terms.count, other.terms[index] < term { index += 1 }
            guard index < other.terms.count, other.terms[index] == term else { return false }
            index += 1
        }
        return true
    }

    private func isWithinLimits() throws(PredicateError) -> NormalConjunction {
        guard terms.count <= PredicateLimits.termsMaximum else { throw Self.tooManyTerms(terms.count) }
        return self
    }

    private static func tooManyTerms(_ count: Int) -> PredicateError {
        PredicateError(
            .tooLarge,
            "\(count) conditions must hold at once; at most \(PredicateLimits.termsMaximum) can be joined by AND")
    }

    // MARK: - Inserting

    /// Adds a term in any form; false if nothing can satisfy the conjunction any more.
    private mutating func insert(
        _ term: PredicateTerm, _ work: inout NormalizationWork
    ) throws(PredicateError) -> Bool {
        var term = term
        term.path = try PredicateTerm.normalizedPath(term.path)
        if term.path.isEmpty {
            guard case .containsAnyToken = term.test else {
                throw PredicateError(.invalidPath, "all fields together can only be searched for words")
            }
        }
        switch try term.test.normalized() {
        case .never: return term.isNegated
        case .test(let test):
            term.test = test
            return try insert(CanonicalTerm(term), &work)
        }
    }

    private mutating func insert(
        _ new: CanonicalTerm, _ work: inout NormalizationWork
    ) throws(PredicateError) -> Bool {
        try work.spend(new, among: terms.count)
        for index in terms.indices where terms[index].term.path == new.term.path {
            guard let both = terms[index].term.intersection(new.term) else { continue }
            try work.spendJoining(terms.remove(at: index), new)
            switch try both.normalized() {
            case .never: return false
            case .test(let test): return try insert(CanonicalTerm(PredicateTerm(new.term.path, test)), &work)
            }
        }
        var index = terms.count
        while index > 0, new < terms[index - 1] { index -= 1 }
        if index > 0 {
            // A term and its opposite differ in their last byte only, so nothing can lie between them.
            if terms[index - 1] == new { return true }
            if terms[index - 1].isOpposite(of: new) { return false }
        }
        if index < terms.count, terms[index].isOpposite(of: new) { return false }
        terms.insert(new, at: index)
        return true
    }
}

extension PredicateTerm {
    /// The test that a value passes if it passes both terms, where the two can be made one.
    fileprivate func intersection(_ other: PredicateTerm) -> FieldTest? {
        guard !isNegated, !other.isNegated else { return nil }
        if case .isInRange(let left) = test, case .isInRange(let right) = other.test {
            // No value can be ordered against bounds that cannot be ordered against each other.
            return left.intersection(right).map(FieldTest.isInRange) ?? .isIn([], .exact)
        }
        if let values = test.equalValues(within: other.test) ?? other.test.equalValues(within: test) {
            return .isIn(values, .exact)
        }
        guard let (left, leftFolding) = test.equalValues, let (right, rightFolding) = other.test.equalValues,
            // Folding changes texts only: where one side has none, both sides compare alike.
            leftFolding == rightFolding || !left.contains(where: \.hasText) || !right.contains(where: \.hasText)
        else { return nil }
        // Values that compare as equal may be written differently: both ways are kept, and normal form chooses.
        let leftKeys = Set(left.map(\.comparisonKey))
        let rightKeys = Set(right.map(\.comparisonKey))
        let both =
            left.filter { rightKeys.contains($0.comparisonKey) } + right.filter { leftKeys.contains($0.comparisonKey) }
        return .isIn(both, leftFolding)
    }
}

extension FieldTest {
    /// The values of an equality test.
    fileprivate var equalValues: ([FieldValue], TextFolding)? {
        switch self {
        case .equals(let value, let folding): ([value], folding)
        case .isIn(let values, let folding): (values, folding)
        default: nil
        }
    }

    /// The values of an equality test that lie within a range; nil if the other test is none.
    ///
    /// Text that ignores case has no place in an order, and stays unchanged. A bound that compares as equal to a value
    /// may be written differently: both ways are kept, and normal form chooses.
    fileprivate func equalValues(within other: FieldTest) -> [FieldValue]? {
        guard case .isInRange(let range) = other, let (values, folding) = equalValues, folding == .exact else {
            return nil
        }
        let bounds = [range.lower, range.upper].compactMap { $0?.value }
        return values.filter(range.contains).flatMap { value in
            [value] + bounds.filter { $0.order(against: value) == .same }
        }
    }
}

/// A term in normal form together with its canonical bytes, by which it is ordered and compared.
struct CanonicalTerm: Hashable, Comparable {
    /// The term.
    let term: PredicateTerm
    /// Its bytes; the last says whether the term is negated.
    let bytes: [UInt8]

    init(_ term: PredicateTerm) {
        self.term = term
        bytes = CanonicalWriter.bytes(of: term)
    }

    /// The term that holds exactly where this one does not.
    var opposite: CanonicalTerm { CanonicalTerm(PredicateTerm(term.path, term.test, isNegated: !term.isNegated)) }

    func isOpposite(of other: CanonicalTerm) -> Bool {
        bytes.last != other.bytes.last && bytes.dropLast().elementsEqual(other.bytes.dropLast())
    }

    func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    static func == (left: CanonicalTerm, right: CanonicalTerm) -> Bool { left.bytes == right.bytes }

    static func < (left: CanonicalTerm, right: CanonicalTerm) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
