/// The first two words of a term of a residual; its operands follow.
///
/// A residual is a count and that many terms, each with its own length, in words of 32 bits.
struct ResidualTerm {
    /// How many words the two are.
    static let headerWords = 2

    /// What is tested.
    var operation: ResidualOperation
    /// Whether texts are compared without their case.
    var isFolded = false
    /// Whether the term holds where the test fails.
    var isNegated: Bool
    /// How many words the term has, these included.
    var wordCount = 0
    /// The path of the field; 0 for all fields.
    var path: UInt32

    /// The first word.
    var head: UInt32 {
        operation.rawValue | (isFolded ? 1 << 6 : 0) | (isNegated ? 1 << 7 : 0) | UInt32(wordCount) << 8
    }

    /// Reads a term's first words.
    @inline(__always)
    init(_ words: UnsafePointer<UInt32>) {
        operation = ResidualOperation(rawValue: words[0] & 0x3F) ?? .never
        isFolded = words[0] & 1 << 6 != 0
        isNegated = words[0] & 1 << 7 != 0
        wordCount = Int(words[0] >> 8)
        path = words[1]
    }

    init(_ operation: ResidualOperation, isFolded: Bool = false, isNegated: Bool, path: UInt32) {
        self.operation = operation
        self.isFolded = isFolded
        self.isNegated = isNegated
        self.path = path
    }
}
