/// Counts the work of normalizing a predicate, because a short text can demand very much.
struct NormalizationWork {
    /// How many steps more may be taken.
    private var stepsLeft = PredicateLimits.normalizationStepsMaximum
    private var conditionsLeft = PredicateLimits.conditionsMaximum

    /// Counts the work of adding a term to a conjunction: its bytes, and those of the terms that it is compared with.
    ///
    /// - Throws: `PredicateError` `.tooLarge` when it is too much.
    mutating func spend(_ term: CanonicalTerm, among termCount: Int) throws(PredicateError) {
        try spend(1 + term.bytes.count / 64 + termCount / 16)
    }

    /// Takes the work of making one term of two, which sorts their values again.
    mutating func spendJoining(_ left: CanonicalTerm, _ right: CanonicalTerm) throws(PredicateError) {
        try spend((left.bytes.count + right.bytes.count) / 8)
    }

    /// Counts a condition of the text.
    ///
    /// - Throws: `PredicateError` `.tooLarge` if there are too many.
    mutating func spendCondition() throws(PredicateError) {
        conditionsLeft -= 1
        guard conditionsLeft >= 0 else {
            throw PredicateError(.tooLarge, "there are more than \(PredicateLimits.conditionsMaximum) conditions")
        }
    }

    private mutating func spend(_ steps: Int) throws(PredicateError) {
        stepsLeft -= steps
        guard stepsLeft >= 0 else {
            throw PredicateError(
                .tooLarge,
                "the predicate is too intricate; write it as an OR of ANDs, without parentheses in each other")
        }
    }
}
