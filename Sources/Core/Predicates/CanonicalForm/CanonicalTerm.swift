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
