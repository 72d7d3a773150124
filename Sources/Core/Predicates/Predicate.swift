/// A condition on the fields of a record, in the one form that equal conditions share: a disjunction of conjunctions.
///
/// Equal predicates are equal values, however they were written, as far as that can be told without knowing the data:
/// terms are in order and each once, within a conjunction and among conjunctions (`Predicate+NormalForm.swift`).
public struct Predicate: Hashable, Sendable {
    /// The conjunctions, any of which suffices, each with terms that must all hold.
    ///
    /// None at all is `FALSEPREDICATE`; one that is empty is `TRUEPREDICATE`.
    public private(set) var conjunctions: [[PredicateTerm]]

    /// Wraps conjunctions that are in normal form already.
    public init(normalized conjunctions: [[PredicateTerm]]) {
        self.conjunctions = conjunctions
    }

    /// Every record.
    public static let always = Predicate(normalized: [[]])
    /// No record.
    public static let never = Predicate(normalized: [])
}
