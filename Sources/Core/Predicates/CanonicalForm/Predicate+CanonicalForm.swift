extension Predicate {
    /// The predicate as bytes: the same for equal predicates, for all time and on every machine.
    ///
    /// Predicates are stored and compared in this form. The form, version 1:
    ///
    ///     predicate    01, count, each conjunction: count, each term
    ///     term         path, 00, test, 01 if negated or 00
    ///     test         01 folding value   02 folding values   03 range      04 text (begins with)
    ///                  05 text (has it somewhere)             06 folding value (list has it)
    ///                  07 folding values (list has one)       08 text (a member begins with)
    ///                  09 count, texts (words)   0a double double double (latitude, longitude, metres)
    ///     folding      00 exact, 01 case-insensitive
    ///     range        bits (1 lower bound, 2 upper, 4 lower included, 8 upper included), the bounds' values
    ///     value        01 text   02 integer   03 double   04 00 or 01   05 integer (date, milliseconds since 1970)
    ///                  06 count, bytes   07 text (reference)   08 double double (place)   09 values (list)
    ///                  0a text text (reference into another zone than the default one, whose name is last)
    ///     values       count, each value
    ///     text         count of bytes, UTF-8 in NFC
    ///     count        seven bits a byte, the lowest first, the eighth says that another byte follows (LEB128)
    ///     integer      eight bytes, the highest first, the sign bit turned
    ///     double       eight bytes of IEEE 754, the highest first, the sign bit turned, or all bits if it was set
    ///
    /// Conjunctions, terms, values of `IN` and words are in the order of their bytes.
    public var canonicalBytes: [UInt8] {
        var writer = CanonicalWriter()
        writer.write(self)
        return writer.bytes
    }

    /// Reads a predicate from its canonical bytes.
    ///
    /// - Throws: `PredicateError` `.notCanonical` for bytes that `canonicalBytes` of no predicate gives.
    public init(canonicalBytes: [UInt8]) throws(PredicateError) {
        let result: Result<Predicate, PredicateError> = canonicalBytes.withUnsafeBytes { bytes in
            Result { () throws(PredicateError) in try Predicate(canonicalBytes: bytes, behind: []) }
        }
        self = try result.get()
    }

    /// Reads a predicate from its canonical bytes, and puts terms in front of each of its conjunctions.
    ///
    /// - Parameters:
    ///   - canonicalBytes: the bytes of the predicate without those terms.
    ///   - first: terms that come before all others in normal form, and are about other fields.
    /// - Throws: `PredicateError` `.notCanonical` for bytes that `canonicalBytes` of no predicate gives.
    public init(canonicalBytes: UnsafeRawBufferPointer, behind first: [PredicateTerm]) throws(PredicateError) {
        var reader = CanonicalReader(canonicalBytes)
        let conjunctions = try reader.readConjunctions(behind: first)
        if PlainForm.isCertain(conjunctions, behind: first.count) {
            self.init(normalized: conjunctions)
            return
        }
        let written = conjunctions.map { Array($0.dropFirst(first.count)) }
        let predicate: Predicate
        do {
            predicate = try Predicate(anyOf: written)
        } catch {
            throw PredicateError(.notCanonical, error.message)
        }
        guard predicate.canonicalBytes.elementsEqual(canonicalBytes) else {
            throw PredicateError(.notCanonical, "the predicate is not in normal form")
        }
        self.init(normalized: predicate.conjunctions.map { first + $0 })
    }
}
