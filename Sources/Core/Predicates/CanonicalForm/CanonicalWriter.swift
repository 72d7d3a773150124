internal import Geography

/// Writes the canonical bytes of predicates and their parts (`Predicate+CanonicalForm.swift`).
public struct CanonicalWriter {
    /// The written bytes.
    public private(set) var bytes: [UInt8] = []

    /// Creates a writer.
    public init() {}

    /// Empties the writer and keeps its memory.
    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    static func bytes(of value: FieldValue) -> [UInt8] {
        var writer = CanonicalWriter()
        writer.write(value)
        return writer.bytes
    }

    static func bytes(of term: PredicateTerm) -> [UInt8] {
        var writer = CanonicalWriter()
        writer.write(term)
        return writer.bytes
    }

    /// Writes a predicate, version and all.
    public mutating func write(_ predicate: Predicate) {
        bytes.append(CanonicalCode.version)
        write(count: predicate.conjunctions.count)
        for terms in predicate.conjunctions {
            write(count: terms.count)
            for term in terms { write(term) }
        }
    }

    mutating func write(_ term: PredicateTerm) {
        append(term.path)
        bytes.append(0)
        write(term.test)
        bytes.append(term.isNegated ? 1 : 0)
    }

    private mutating func write(_ test: FieldTest) {
        switch test {
        case .equals(let value, let folding): write(CanonicalCode.Test.equals, folding, value)
        case .isIn(let values, let folding): write(CanonicalCode.Test.isIn, folding, values)
        case .isInRange(let range):
            bytes.append(CanonicalCode.Test.isInRange)
            write(range)
        case .beginsWith(let text): write(CanonicalCode.Test.beginsWith, text)
        case .containsText(let text): write(CanonicalCode.Test.containsText, text)
        case .listContains(let value, let folding): write(CanonicalCode.Test.listContains, folding, value)
        case .listContainsAny(let values, let folding): write(CanonicalCode.Test.listContainsAny, folding, values)
        case .listMemberBeginsWith(let text): write(CanonicalCode.Test.listMemberBeginsWith, text)
        case .containsAnyToken(let words):
            bytes.append(CanonicalCode.Test.containsAnyToken)
            write(count: words.count)
            for word in words { write(word) }
        case .isWithin(let centre, let radiusMetres):
            bytes.append(CanonicalCode.Test.isWithin)
            write(centre.latitude)
            write(centre.longitude)
            write(radiusMetres)
        }
    }

    private mutating func write(_ kind: UInt8, _ text: String) {
        bytes.append(kind)
        write(text)
    }

    private mutating func write(_ kind: UInt8, _ folding: TextFolding, _ value: FieldValue) {
        bytes.append(kind)
        bytes.append(folding.rawValue)
        write(value)
    }

    private mutating func write(_ kind: UInt8, _ folding: TextFolding, _ values: [FieldValue]) {
        bytes.append(kind)
        bytes.append(folding.rawValue)
        write(count: values.count)
        for value in values { write(value) }
    }

    private mutating func write(_ range: ValueRange) {
        var bits: UInt8 = 0
        if let lower = range.lower {
            bits |= CanonicalCode.Range.hasLower | (lower.isIncluded ? CanonicalCode.Range.lowerIsIncluded : 0)
        }
        if let upper = range.upper {
            bits |= CanonicalCode.Range.hasUpper | (upper.isIncluded ? CanonicalCode.Range.upperIsIncluded : 0)
        }
        bytes.append(bits)
        if let lower = range.lower { write(lower.value) }
        if let upper = range.upper { write(upper.value) }
    }

    mutating func write(_ value: FieldValue) {
        switch value {
        case .string(let text): write(CanonicalCode.Value.string, text)
        case .integer(let number):
            bytes.append(CanonicalCode.Value.integer)
            write(number)
        case .double(let number):
            bytes.append(CanonicalCode.Value.double)
            write(number)
        case .boolean(let isTrue): bytes += [CanonicalCode.Value.boolean, isTrue ? 1 : 0]
        case .date(let milliseconds):
            bytes.append(CanonicalCode.Value.date)
            write(milliseconds)
        case .bytes(let data):
            bytes.append(CanonicalCode.Value.bytes)
            write(count: data.count)
            bytes.append(contentsOf: data)
        case .reference(let recordName, FieldValue.defaultZoneName):
            write(CanonicalCode.Value.reference, recordName)
        case .reference(let recordName, let zoneName):
            write(CanonicalCode.Value.zoneReference, recordName)
            write(zoneName)
        case .location(let place):
            bytes.append(CanonicalCode.Value.location)
            write(place.latitude)
            write(place.longitude)
        case .list(let members):
            bytes.append(CanonicalCode.Value.list)
            write(count: members.count)
            for member in members { write(member) }
        }
    }

    // MARK: - The smallest parts

    private mutating func write(count: Int) {
        var rest = UInt(bitPattern: count)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private mutating func write(_ text: String) {
        write(count: text.utf8.count)
        append(text)
    }

    private mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// With its sign turned, so that the order of bytes is that of numbers.
    private mutating func write(_ number: Int64) { write(word: UInt64(bitPattern: number) ^ (1 << 63)) }

    private mutating func write(_ number: Double) {
        let bits = number.bitPattern
        write(word: bits >> 63 == 0 ? bits ^ (1 << 63) : ~bits)
    }

    private mutating func write(word: UInt64) {
        withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

/// The numbers by which canonical bytes name things; they never change.
enum CanonicalCode {
    /// The version of the form, its first byte.
    static let version: UInt8 = 1

    /// Kinds of tests.
    enum Test {
        static let equals: UInt8 = 1
        static let isIn: UInt8 = 2
        static let isInRange: UInt8 = 3
        static let beginsWith: UInt8 = 4
        static let containsText: UInt8 = 5
        static let listContains: UInt8 = 6
        static let listContainsAny: UInt8 = 7
        static let listMemberBeginsWith: UInt8 = 8
        static let containsAnyToken: UInt8 = 9
        static let isWithin: UInt8 = 10
    }

    /// Kinds of values.
    enum Value {
        static let string: UInt8 = 1
        static let integer: UInt8 = 2
        static let double: UInt8 = 3
        static let boolean: UInt8 = 4
        static let date: UInt8 = 5
        static let bytes: UInt8 = 6
        /// To a record of the default zone.
        static let reference: UInt8 = 7
        static let location: UInt8 = 8
        static let list: UInt8 = 9
        /// To a record of another zone.
        static let zoneReference: UInt8 = 10
    }

    /// The bits of a range.
    enum Range {
        static let hasLower: UInt8 = 1
        static let hasUpper: UInt8 = 2
        static let lowerIsIncluded: UInt8 = 4
        static let upperIsIncluded: UInt8 = 8
    }
}
