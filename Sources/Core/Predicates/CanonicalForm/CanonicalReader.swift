internal import Geography

/// Reads any canonical bytes.
///
/// The predicate need not be in normal form yet, but its encoding is unique.
///
/// Millions of predicates are read when a worker starts, so it reads them where they lie.
struct CanonicalReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// Reads bytes that stay where they are for as long as the reader is used.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The conjunctions of a predicate, each behind terms that it does not have itself.
    mutating func readConjunctions(behind first: [PredicateTerm] = []) throws(PredicateError) -> [[PredicateTerm]] {
        guard bytes.count <= PredicateLimits.canonicalBytesMaximum else {
            let maximum = PredicateLimits.canonicalBytesMaximum
            throw PredicateError(
                .notCanonical, "the predicate takes \(bytes.count) bytes; at most \(maximum) are accepted")
        }
        let version = try readByte()
        guard version == CanonicalCode.version else {
            throw PredicateError(
                .notCanonical, at: .byte(0),
                "the predicate is of version \(version); this program knows \(CanonicalCode.version)")
        }
        var conjunctions: [[PredicateTerm]] = []
        for _ in 0..<(try readCount(PredicateLimits.conjunctionsMaximum)) {
            let count = try readCount(PredicateLimits.termsMaximum)
            var terms = first
            terms.reserveCapacity(first.count + count)
            for _ in 0..<count { terms.append(try readTerm()) }
            conjunctions.append(terms)
        }
        guard position == bytes.count else { throw fault("the end of the predicate") }
        return conjunctions
    }

    private mutating func readTerm() throws(PredicateError) -> PredicateTerm {
        let last = min(bytes.count, position + PredicateLimits.pathBytesMaximum + 1)
        var end = position
        while end < last, bytes[end] != 0 { end += 1 }
        guard end < last else { throw fault("a path that a zero ends") }
        let path = try readText(end - position)
        position += 1
        let test = try readTest()
        return PredicateTerm(path, test, isNegated: try readFlag())
    }

    private mutating func readTest() throws(PredicateError) -> FieldTest {
        switch try readByte() {
        case CanonicalCode.Test.equals:
            let folding = try readFolding()
            return .equals(try readValue(), folding)
        case CanonicalCode.Test.isIn:
            let folding = try readFolding()
            return .isIn(try readValues(), folding)
        case CanonicalCode.Test.isInRange: return .isInRange(try readRange())
        case CanonicalCode.Test.beginsWith: return .beginsWith(try readText())
        case CanonicalCode.Test.containsText: return .containsText(try readText())
        case CanonicalCode.Test.listContains:
            let folding = try readFolding()
            return .listContains(try readValue(), folding)
        case CanonicalCode.Test.listContainsAny:
            let folding = try readFolding()
            return .listContainsAny(try readValues(), folding)
        case CanonicalCode.Test.listMemberBeginsWith: return .listMemberBeginsWith(try readText())
        case CanonicalCode.Test.containsAnyToken:
            var words: [String] = []
            for _ in 0..<(try readCount(PredicateLimits.wordsMaximum)) { words.append(try readText()) }
            return .containsAnyToken(words)
        case CanonicalCode.Test.isWithin:
            let centre = try readLocation()
            return .isWithin(centre, radiusMetres: try readDouble())
        default: throw fault("the kind of a test", at: position - 1)
        }
    }

    private mutating func readRange() throws(PredicateError) -> ValueRange {
        let bits = try readByte()
        let both = CanonicalCode.Range.hasLower | CanonicalCode.Range.hasUpper
        // The bit for an included bound is set only if that bound exists; no other bits are set.
        guard bits & both != 0, bits & ~both & ~((bits & both) << 2) == 0 else {
            throw fault("the bounds of a range", at: position - 1)
        }
        var lower: ValueRange.Bound?
        if bits & CanonicalCode.Range.hasLower != 0 {
            lower = .init(try readValue(), isIncluded: bits & CanonicalCode.Range.lowerIsIncluded != 0)
        }
        var upper: ValueRange.Bound?
        if bits & CanonicalCode.Range.hasUpper != 0 {
            upper = .init(try readValue(), isIncluded: bits & CanonicalCode.Range.upperIsIncluded != 0)
        }
        return ValueRange(lower: lower, upper: upper)
    }

    private mutating func readValues(listDepth: Int = 0) throws(PredicateError) -> [FieldValue] {
        var values: [FieldValue] = []
        for _ in 0..<(try readCount(PredicateLimits.membersMaximum)) {
            values.append(try readValue(listDepth: listDepth))
        }
        return values
    }

    private mutating func readValue(listDepth: Int = 0) throws(PredicateError) -> FieldValue {
        switch try readByte() {
        case CanonicalCode.Value.string: return .string(try readText())
        case CanonicalCode.Value.integer: return .integer(try readInteger())
        case CanonicalCode.Value.double: return .double(try readDouble())
        case CanonicalCode.Value.boolean: return .boolean(try readFlag())
        case CanonicalCode.Value.date: return .date(milliseconds: try readInteger())
        case CanonicalCode.Value.bytes:
            let count = try readCount(PredicateLimits.textBytesMaximum)
            return .bytes(Array(try readBytes(count)))
        case CanonicalCode.Value.reference:
            return .reference(recordName: try readText(), zoneName: FieldValue.defaultZoneName)
        case CanonicalCode.Value.zoneReference:
            let recordName = try readText()
            let start = position
            let zoneName = try readText()
            guard zoneName != FieldValue.defaultZoneName else { throw fault("another zone", at: start) }
            return .reference(recordName: recordName, zoneName: zoneName)
        case CanonicalCode.Value.location: return .location(try readLocation())
        case CanonicalCode.Value.list:
            guard listDepth < PredicateLimits.listDepthMaximum else { throw fault("a list that is not so deep") }
            return .list(try readValues(listDepth: listDepth + 1))
        default: throw fault("the kind of a value", at: position - 1)
        }
    }

    // MARK: - The smallest parts

    private mutating func readByte() throws(PredicateError) -> UInt8 {
        guard position < bytes.count else { throw fault("another byte") }
        position += 1
        return bytes[position - 1]
    }

    private mutating func readBytes(_ count: Int) throws(PredicateError) -> UnsafeRawBufferPointer {
        guard count <= bytes.count - position else { throw fault("\(count) bytes") }
        position += count
        return UnsafeRawBufferPointer(rebasing: bytes[(position - count)..<position])
    }

    private mutating func readCount(_ maximum: Int) throws(PredicateError) -> Int {
        let start = position
        var count = 0
        // No count that is allowed takes more than three bytes.
        var shift = 0
        while shift < 21 {
            let byte = try readByte()
            count |= Int(byte & 0x7f) << shift
            guard byte & 0x80 != 0 else {
                // A last byte of zero would be one more than the count needs.
                guard count <= maximum, byte != 0 || shift == 0 else { break }
                return count
            }
            shift += 7
        }
        throw fault("a count up to \(maximum)", at: start)
    }

    private mutating func readText() throws(PredicateError) -> String {
        try readText(try readCount(PredicateLimits.textBytesMaximum))
    }

    private mutating func readText(_ byteCount: Int) throws(PredicateError) -> String {
        let start = position
        guard let text = String(validating: try readBytes(byteCount), as: UTF8.self) else {
            throw fault("text in UTF-8", at: start)
        }
        return text
    }

    private mutating func readFlag() throws(PredicateError) -> Bool {
        let byte = try readByte()
        guard byte <= 1 else { throw fault("0 or 1", at: position - 1) }
        return byte == 1
    }

    private mutating func readFolding() throws(PredicateError) -> TextFolding {
        guard let folding = TextFolding(rawValue: try readByte()) else {
            throw fault("how text is compared", at: position - 1)
        }
        return folding
    }

    private mutating func readInteger() throws(PredicateError) -> Int64 {
        Int64(bitPattern: try readWord() ^ (1 << 63))
    }

    private mutating func readDouble() throws(PredicateError) -> Double {
        let bits = try readWord()
        let number = Double(bitPattern: bits >> 63 == 1 ? bits ^ (1 << 63) : ~bits)
        guard number != 0 || number.sign == .plus else { throw fault("zero without a sign", at: position - 8) }
        return number
    }

    private mutating func readLocation() throws(PredicateError) -> Location {
        let start = position
        let latitude = try readDouble()
        guard let location = Location(latitude: latitude, longitude: try readDouble()) else {
            throw fault("a place on the Earth", at: start)
        }
        return location
    }

    private mutating func readWord() throws(PredicateError) -> UInt64 {
        UInt64(bigEndian: try readBytes(8).loadUnaligned(as: UInt64.self))
    }

    private func fault(_ expected: String, at offset: Int? = nil) -> PredicateError {
        PredicateError(.notCanonical, at: .byte(offset ?? position), "the predicate must have \(expected) here")
    }
}
