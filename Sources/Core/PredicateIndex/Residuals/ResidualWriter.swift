internal import Geography
import Hashing
import Predicates

/// Writes the terms that keys leave over, for `RecordView` to test.
struct ResidualWriter {
    /// The words so far: residuals one after the other.
    private(set) var words: [UInt32] = []
    private let hashes: ValueDigests

    init(_ hashes: ValueDigests) { self.hashes = hashes }

    /// Empties the writer and keeps its memory.
    mutating func removeAll() { words.removeAll(keepingCapacity: true) }

    /// Begins a residual of so many terms, and returns where it is.
    mutating func begin(termCount: Int) -> Int {
        words.append(UInt32(termCount))
        return words.count - 1
    }

    /// Writes a term whose path has this number.
    mutating func write(_ term: PredicateTerm, path: UInt32) {
        let start = words.count
        words.append(0)
        words.append(path)
        var header = ResidualTerm(.never, isNegated: term.isNegated, path: path)
        switch term.test {
        case .equals(let value, let folding): write(value, folding, .isIn, &header)
        case .isIn(let values, let folding): write(values, folding, .isIn, &header)
        case .listContains(let value, let folding): write(value, folding, .memberIsIn, &header)
        case .listContainsAny(let values, let folding): write(values, folding, .memberIsIn, &header)
        case .isInRange(let range):
            if ResidualBound.append(range.lower, to: &words), ResidualBound.append(range.upper, to: &words) {
                header.operation = .isInRange
            }
        case .beginsWith(let text): write(text, .beginsWith, &header)
        case .containsText(let text): write(text, .containsText, &header)
        case .listMemberBeginsWith(let text): write(text, .memberBeginsWith, &header)
        case .containsAnyToken(let wanted):
            header.operation = .hasWord
            for word in wanted { words.append(hashes.of(word)) }
        case .isWithin(let centre, let radiusMetres):
            header.operation = .isWithin
            for number in [centre.latitude, centre.longitude, radiusMetres] { words.append(word: number.bitPattern) }
        }
        header.wordCount = words.count - start
        words[start] = header.head
    }

    private mutating func write(_ text: String, _ operation: ResidualOperation, _ header: inout ResidualTerm) {
        header.operation = operation
        words.append(text: text)
    }

    private mutating func write(
        _ value: FieldValue, _ folding: TextFolding, _ operation: ResidualOperation, _ header: inout ResidualTerm
    ) {
        header.operation = operation
        header.isFolded = folding == .caseInsensitive && value.hasText
        if let digest = hashes.of(value, folding) { words.append(digest) }
    }

    private mutating func write(
        _ values: [FieldValue], _ folding: TextFolding, _ operation: ResidualOperation, _ header: inout ResidualTerm
    ) {
        header.operation = operation
        header.isFolded = folding == .caseInsensitive && values.contains(where: \.hasText)
        for value in values { if let digest = hashes.of(value, folding) { words.append(digest) } }
    }
}

extension RangeReplaceableCollection<UInt32> {
    /// Appends a word of 64 bits, its lower half first.
    mutating func append(word: UInt64) {
        append(UInt32(truncatingIfNeeded: word))
        append(UInt32(truncatingIfNeeded: word >> 32))
    }

    /// Appends a digest.
    mutating func append(_ digest: WordDigest) {
        append(word: digest.high)
        append(word: digest.low)
    }

    /// Appends a count of bytes, and the bytes.
    mutating func append(text: String) {
        append(UInt32(text.utf8.count))
        var word: UInt32 = 0
        var shift: UInt32 = 0
        for byte in text.utf8 {
            word |= UInt32(byte) << shift
            shift += 8
            if shift == 32 {
                append(word)
                word = 0
                shift = 0
            }
        }
        if shift > 0 { append(word) }
    }
}
