/// Sees of the most common predicates that they are in normal form, without bringing them into it.
///
/// A worker reads the whole registry when it starts, millions of predicates. This check is quick for predicates with
/// one conjunction, one test for each field, and text in ASCII. For all others its answer is unknown.
enum PlainForm {
    /// Whether the conjunctions are certainly in normal form, skipping so many terms at the beginning of each; they
    /// must come from a `CanonicalReader`, which enforces the limits.
    static func isCertain(_ conjunctions: [[PredicateTerm]], behind firstCount: Int) -> Bool {
        guard let terms = conjunctions.first else { return true }
        guard conjunctions.count == 1 else { return false }
        for index in firstCount..<terms.count {
            guard isPlain(path: terms[index].path), isPlain(terms[index].test) else { return false }
            // Two tests of one field could be one.
            guard index == firstCount || terms[index - 1].path.utf8.lexicographicallyPrecedes(terms[index].path.utf8)
            else { return false }
        }
        return true
    }

    private static func isPlain(path: String) -> Bool {
        var names = 1
        var beginsName = true
        for byte in path.utf8 {
            guard byte < 0x80 else { return false }
            let isPeriod = byte == UInt8(ascii: ".")
            if isPeriod {
                guard !beginsName else { return false }
                names += 1
            }
            beginsName = isPeriod
        }
        return !beginsName && names <= PredicateLimits.pathNamesMaximum
    }

    private static func isPlain(_ test: FieldTest) -> Bool {
        switch test {
        case .equals(let value, let folding), .listContains(let value, let folding): isPlain(value, folding)
        case .isIn(let values, let folding), .listContainsAny(let values, let folding): isPlain(values, folding)
        case .isInRange(let range): isPlain(range)
        case .beginsWith(let text), .containsText(let text), .listMemberBeginsWith(let text):
            !text.isEmpty && isPlain(text, .exact)
        case .containsAnyToken: false
        case .isWithin(_, let radiusMetres): radiusMetres.isFinite && radiusMetres > 0
        }
    }

    private static func isPlain(_ value: FieldValue, _ folding: TextFolding) -> Bool {
        switch value {
        case .string(let text): isPlain(text, folding)
        case .reference(let recordName, let zoneName):
            folding == .exact && isPlain(recordName, .exact) && isPlain(zoneName, .exact)
        case .double(let number): folding == .exact && number.isFinite && Int64(exactly: number) == nil
        case .integer, .boolean, .date, .bytes, .location: folding == .exact
        case .list: false
        }
    }

    /// Several texts, or several whole numbers, in order.
    private static func isPlain(_ values: [FieldValue], _ folding: TextFolding) -> Bool {
        guard values.count >= 2 else { return false }
        for (index, value) in values.enumerated() {
            guard isPlain(value, folding) else { return false }
            guard index > 0 else { continue }
            switch (values[index - 1], value) {
            case (.integer(let before), .integer(let after)):
                guard before < after else { return false }
            case (.string(let before), .string(let after)):
                // The count of bytes comes first, and takes a single byte up to here.
                guard after.utf8.count < 0x80, before.utf8.count <= after.utf8.count else { return false }
                guard before.utf8.count < after.utf8.count || before.utf8.lexicographicallyPrecedes(after.utf8) else {
                    return false
                }
            default: return false
            }
        }
        return true
    }

    private static func isPlain(_ range: ValueRange) -> Bool {
        if let lower = range.lower { guard isPlain(lower) else { return false } }
        if let upper = range.upper { guard isPlain(upper) else { return false } }
        guard let lower = range.lower, let upper = range.upper else { return true }
        return lower.value.order(against: upper.value) == .before
    }

    private static func isPlain(_ bound: ValueRange.Bound) -> Bool {
        isPlain(bound.value, .exact) && bound.value.order(against: bound.value) != nil
    }

    private static func isPlain(_ text: String, _ folding: TextFolding) -> Bool {
        text.utf8.allSatisfy { byte in
            byte < 0x80 && (folding == .exact || !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte))
        }
    }
}
