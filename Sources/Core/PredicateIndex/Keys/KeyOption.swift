internal import Geography
import Hashing
import Predicates

/// A term of a conjunction that can be part of a key, and its part of the key.
struct KeyOption: BitwiseCopyable {
    /// The index of the term in its conjunction.
    var term: Int
    /// How the field becomes part of the key.
    var kind: KeyKind
    /// The digest of the path.
    var path: WordDigest
    /// The digest of path and kind.
    var salt: WordDigest
    /// The index of the option's first digest among those of the predicate; a record must have one of them.
    var digestStart: Int
    /// How many digests there are.
    var digestCount = 0
    /// The level of the digests, if the kind has levels.
    var level = 0
    /// Whether a record with one of the digests satisfies the term: nothing is left to test.
    var isExact: Bool

    /// Whether the term asks for one value.
    var isEquality: Bool { kind.isSingle && digestCount == 1 }
}

/// The part of each test in a key.
extension KeyOption {
    /// How many intervals cover a range at most.
    private static let intervalsMaximum: UInt64 = 3
    /// How many cells cover a circle at most.
    private static let cellsMaximum = 4
    /// How many keys a term may make: the members of `IN` at most.
    static let digestsMaximum = 64

    /// The option of a term; nil if it cannot be part of a key.
    ///
    /// - Parameters:
    ///   - term: the term.
    ///   - index: its index in its conjunction.
    ///   - hashes: makes digests.
    ///   - digests: the term's digests are appended; unspecified if it cannot be part of a key.
    init?(_ term: PredicateTerm, at index: Int, _ hashes: ValueDigests, into digests: inout ScratchArray<WordDigest>) {
        guard !term.isNegated else { return nil }
        // Among the tests on all fields, only the one for words has a key.
        if term.path.isEmpty { guard case .containsAnyToken = term.test else { return nil } }
        self.init(index, path: hashes.of(term.path), digestStart: digests.count)
        switch term.test {
        case .equals(let value, let folding):
            become(folding == .caseInsensitive && value.hasText ? .foldedValue : .value, isExact: true)
            append(value, folding, hashes, to: &digests)
        case .isIn(let values, let folding): append(values, folding, hashes, .value, .foldedValue, to: &digests)
        case .listContains(let value, let folding):
            become(folding == .caseInsensitive && value.hasText ? .foldedMember : .member, isExact: true)
            append(value, folding, hashes, to: &digests)
        case .listContainsAny(let values, let folding):
            append(values, folding, hashes, .member, .foldedMember, to: &digests)
        case .isInRange(let range): append(range, to: &digests)
        case .beginsWith(let text): append(beginning: text, hashes, .prefix, to: &digests)
        case .listMemberBeginsWith(let text): append(beginning: text, hashes, .memberPrefix, to: &digests)
        case .containsAnyToken(let words):
            become(.word, isExact: true)
            for word in words { digests.append(hashes.of(word).salted(by: salt)) }
        case .isWithin(let centre, let radiusMetres):
            guard radiusMetres >= 0 else { return nil }
            become(.place, isExact: false)
            let cover = GeographicGrid.cover(
                centre: centre, radiusMetres: radiusMetres, countMaximum: Self.cellsMaximum)
            level = cover.level
            for cell in cover.cells { digests.append(salt.cell(cell, level: level)) }
        case .containsText: return nil
        }
        digestCount = digests.count - digestStart
        guard digestCount > 0, digestCount <= Self.digestsMaximum else { return nil }
    }

    private init(_ index: Int, path: WordDigest, digestStart: Int) {
        term = index
        kind = .value
        isExact = false
        self.path = path
        salt = path
        self.digestStart = digestStart
    }

    private mutating func become(_ kind: KeyKind, isExact: Bool) {
        self.kind = kind
        self.isExact = isExact
        salt = KeyDimension.salt(path: path, kind: kind)
    }

    /// Appends the digest of a value, unless it is there or the value equals nothing.
    private func append(
        _ value: FieldValue, _ folding: TextFolding, _ hashes: ValueDigests, to digests: inout ScratchArray<WordDigest>
    ) {
        guard let digest = hashes.of(value, folding)?.salted(by: salt) else { return }
        for index in digestStart..<digests.count where digests[index] == digest { return }
        digests.append(digest)
    }

    private mutating func append(
        _ values: [FieldValue], _ folding: TextFolding, _ hashes: ValueDigests, _ exact: KeyKind, _ folded: KeyKind,
        to digests: inout ScratchArray<WordDigest>
    ) {
        let isFolded = folding == .caseInsensitive && values.contains(where: \.hasText)
        become(isFolded ? folded : exact, isExact: true)
        for value in values { append(value, folding, hashes, to: &digests) }
    }

    private mutating func append(_ range: ValueRange, to digests: inout ScratchArray<WordDigest>) {
        let lower = range.lower.map { OrderedKey.of($0.value) }
        let upper = range.upper.map { OrderedKey.of($0.value) }
        // For a bound without an order, or bounds of two kinds, the range is empty, and the residual says so.
        if case .some(nil) = lower { return }
        if case .some(nil) = upper { return }
        let low = lower ?? nil
        let high = upper ?? nil
        guard let kind = low?.kind ?? high?.kind, (high?.kind ?? kind) == kind else { return }
        let first = low?.bits ?? 0
        let last = high?.bits ?? .max
        guard first <= last else { return }
        become(kind, isExact: false)
        let cover = OrderedKey.cover(first...last, countMaximum: Self.intervalsMaximum)
        level = cover.level
        for cell in cover.cells { digests.append(salt.cell(cell, level: level)) }
    }

    private mutating func append(
        beginning text: String, _ hashes: ValueDigests, _ kind: KeyKind, to digests: inout ScratchArray<WordDigest>
    ) {
        become(kind, isExact: false)
        var text = text
        let (digest, count) = text.withUTF8 { bytes in
            let count = min(bytes.count, KeyKind.prefixBytesMaximum)
            return (hashes.of(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count]))), count)
        }
        level = count
        isExact = count == text.utf8.count
        digests.append(digest.salted(by: salt))
    }
}
