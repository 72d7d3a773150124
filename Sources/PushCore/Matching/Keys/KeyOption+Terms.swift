internal import Geography

/// What each test contributes to a key.
extension KeyOption {
    /// How many intervals cover a range at most.
    private static let intervalsMaximum: UInt64 = 3
    /// How many cells cover a circle at most.
    private static let cellsMaximum = 4
    /// How many keys a term may make: the members of `IN` at most.
    static let digestsMaximum = 64

    /// The option of a term; nil if it cannot be part of a key.
    init?(_ term: PredicateTerm, at place: Int, _ hashes: ValueDigests) {
        guard !term.isNegated else { return nil }
        // Of the tests that ask all fields only that for words has a key.
        if term.path.isEmpty { guard case .containsAnyToken = term.test else { return nil } }
        switch term.test {
        case .equals(let value, let folding): self.init(term, place, hashes, [value], folding, .value, .foldedValue)
        case .isIn(let values, let folding): self.init(term, place, hashes, values, folding, .value, .foldedValue)
        case .listContains(let value, let folding):
            self.init(term, place, hashes, [value], folding, .member, .foldedMember)
        case .listContainsAny(let values, let folding):
            self.init(term, place, hashes, values, folding, .member, .foldedMember)
        case .isInRange(let range): self.init(term, place, hashes, range)
        case .beginsWith(let text): self.init(term, place, hashes, prefix: text, .prefix)
        case .listMemberBeginsWith(let text): self.init(term, place, hashes, prefix: text, .memberPrefix)
        case .containsAnyToken(let words):
            self.init(term, place, hashes, .word, isExact: true)
            digests = words.map { hashes.of($0).salted(by: salt) }
        case .isWithin(let centre, let radiusMetres):
            guard radiusMetres >= 0 else { return nil }
            self.init(term, place, hashes, .place, isExact: false)
            let cover = GeographicGrid.cover(
                centre: centre, radiusMetres: radiusMetres, countMaximum: Self.cellsMaximum)
            level = cover.level
            digests = cover.cells.map { salt.cell($0, level: cover.level) }
        case .containsText: return nil
        }
        guard !digests.isEmpty, digests.count <= Self.digestsMaximum else { return nil }
    }

    private init(_ term: PredicateTerm, _ place: Int, _ hashes: ValueDigests, _ kind: KeyKind, isExact: Bool) {
        self.term = place
        self.kind = kind
        self.isExact = isExact
        path = hashes.of(term.path)
        salt = KeyDimension.salt(path: path, kind: kind)
        digests = []
    }

    private init?(
        _ term: PredicateTerm, _ place: Int, _ hashes: ValueDigests, _ values: [FieldValue], _ folding: TextFolding,
        _ exact: KeyKind, _ folded: KeyKind
    ) {
        let isFolded = folding == .caseInsensitive && values.contains(where: \.hasText)
        self.init(term, place, hashes, isFolded ? folded : exact, isExact: true)
        for value in values {
            // A value that equals nothing adds no key.
            guard let digest = hashes.of(value, folding)?.salted(by: salt) else { continue }
            if !digests.contains(digest) { digests.append(digest) }
        }
    }

    private init?(_ term: PredicateTerm, _ place: Int, _ hashes: ValueDigests, _ range: ValueRange) {
        let lower = range.lower.map { OrderedKey.of($0.value) }
        let upper = range.upper.map { OrderedKey.of($0.value) }
        // A bound without an order, or bounds of two kinds: nothing is in the range, and the residual says so.
        if case .some(nil) = lower { return nil }
        if case .some(nil) = upper { return nil }
        let low = lower ?? nil
        let high = upper ?? nil
        guard let kind = low?.kind ?? high?.kind, (high?.kind ?? kind) == kind else { return nil }
        let first = low?.bits ?? 0
        let last = high?.bits ?? .max
        guard first <= last else { return nil }
        self.init(term, place, hashes, kind, isExact: false)
        let cover = OrderedKey.cover(first...last, countMaximum: Self.intervalsMaximum)
        level = cover.level
        digests = cover.cells.map { salt.cell($0, level: cover.level) }
    }

    private init(_ term: PredicateTerm, _ place: Int, _ hashes: ValueDigests, prefix: String, _ kind: KeyKind) {
        self.init(term, place, hashes, kind, isExact: false)
        var prefix = prefix
        prefix.withUTF8 { bytes in
            level = min(bytes.count, KeyKind.prefixBytesMaximum)
            isExact = level == bytes.count
            let beginning = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<level]))
            digests = [hashes.of(beginning).salted(by: salt)]
        }
    }
}
