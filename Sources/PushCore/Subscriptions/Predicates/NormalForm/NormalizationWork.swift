/// Counts the work of bringing a predicate into normal form, of which a short text can ask for very much.
struct NormalizationWork {
    /// How many terms more may be looked at; those with long texts count more than once.
    private var termsLeft = PredicateLimits.normalizationTermsMaximum

    /// Whether the values that a field may equal are cut with its ranges; what was stored before they were has both.
    let cutsValues: Bool

    init(cutsValues: Bool = true) { self.cutsValues = cutsValues }

    /// Takes the work of putting a term into a conjunction.
    ///
    /// - Throws: `PredicateError` `.tooLarge` when it is too much.
    mutating func spend(_ term: CanonicalTerm) throws(PredicateError) {
        termsLeft -= 1 + term.bytes.count / 64
        guard termsLeft >= 0 else {
            throw PredicateError(
                .tooLarge,
                "the predicate is too intricate; write it as an OR of ANDs, without parentheses in each other")
        }
    }
}
