import Hashing

/// The stored data of a predicate that needs more than a sum: its digest, its further postings, and residuals.
///
///     words 0      the size of the block in words
///     words 1-3    96 bits of the digest of the predicate
///     word  4      how many further postings there are
///     word  5      how many residuals there are
///     word  6      where the residual of the first posting is; 0 if it has none
///     …            the further postings, then the residuals
struct PredicateBlock {
    /// How many words there are before the further postings.
    static let headerWords = 7

    let words: UnsafeMutablePointer<UInt32>

    var wordCount: Int { Int(words[0]) }
    var low: UInt64 { UInt64(words[1]) | UInt64(words[2]) << 32 }
    var middle: UInt32 { words[3] }
    var furtherCount: Int { Int(words[4]) }

    /// The residual of the first posting; nil if there is none.
    var firstResidual: UnsafePointer<UInt32>? { words[6] == 0 ? nil : UnsafePointer(words + Int(words[6])) }

    /// A further posting.
    func further(_ index: Int) -> UInt32 { words[Self.headerWords + index] }

    /// Writes all but the further postings, which are set afterwards.
    ///
    /// - Parameters:
    ///   - digest: the digest of the predicate.
    ///   - furtherCount: how many further postings there will be.
    ///   - residuals: the residuals.
    ///   - residualCount: how many these are.
    ///   - first: where among them that of the first posting is; nil if it has none.
    func write(_ digest: WordDigest, furtherCount: Int, residuals: [UInt32], residualCount: Int, first: Int?) {
        let start = Self.headerWords + furtherCount
        words[0] = UInt32(start + residuals.count)
        words[1] = UInt32(truncatingIfNeeded: digest.low)
        words[2] = UInt32(truncatingIfNeeded: digest.low >> 32)
        words[3] = digest.middle
        words[4] = UInt32(furtherCount)
        words[5] = UInt32(residualCount)
        words[6] = first.map { UInt32(start + $0) } ?? 0
        for index in residuals.indices { words[start + index] = residuals[index] }
    }

    /// Calls `body` with the path of each term of all residuals.
    func forEachPath(_ body: (UInt32) -> Void) {
        var position = words + Self.headerWords + furtherCount
        for _ in 0..<words[5] {
            let termCount = position[0]
            position += 1
            for _ in 0..<termCount {
                let term = ResidualTerm(position)
                body(term.path)
                position += term.wordCount
            }
        }
    }
}
