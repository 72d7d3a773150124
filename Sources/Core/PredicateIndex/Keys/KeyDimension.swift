import Hashing
import Predicates

/// A field in one of the ways in which it can be part of a key.
struct KeyDimension: BitwiseCopyable {
    /// The last change for which the digests were made.
    var madeFor: UInt64 = 0
    /// The first of the digests.
    var digest = WordDigest.zero
    /// Where the digests are.
    var digestStart: UInt32 = 0
    var digestCount: UInt32 = 0
    /// The digest of path and kind.
    var salt: WordDigest
    /// A bit for each level at which there are keys.
    var levels: UInt64 = 0
    /// How many keys there are at each level; 0 if the kind has no levels.
    var levelCounts: UInt32 = 0
    /// How many shapes use it.
    var users: UInt32 = 0
    /// The path of the field; 0 for all fields.
    var path: UInt32
    /// The way.
    var kind: KeyKind

    init(path: UInt32, kind: KeyKind, salt: WordDigest) {
        self.path = path
        self.kind = kind
        self.salt = salt
    }

    /// The digest of a path together with a kind.
    static func salt(path: WordDigest, kind: KeyKind) -> WordDigest {
        var digest = path
        digest.mix(word: UInt64(kind.rawValue) + 1)
        digest.finish()
        return digest
    }
}

/// The ways in which a field can be part of a key.
enum KeyKind: UInt8, CaseIterable, Sendable {
    /// The field's value, exactly.
    case value
    /// The field's value, texts folded.
    case foldedValue
    /// Each member of the field's list, exactly.
    case member
    /// Each member of the field's list, texts folded.
    case foldedMember
    /// Each word of the field's text, or of the texts of its list.
    case word
    /// The beginnings of the field's text; the level is their length.
    case prefix
    /// The beginnings of the texts in the field's list; the level is their length.
    case memberPrefix
    /// The intervals around the field's number; the level is their width.
    case number
    /// The intervals around the field's text; the level is their width.
    case text
    /// The cells of a grid around the field's place; the level is their depth.
    case place

    /// Whether a record has one digest of this kind at most, so that several fields of such kinds fit into one key.
    var isSingle: Bool { self == .value || self == .foldedValue }
    /// Whether keys of this kind have levels; a record is probed only for the used ones.
    var hasLevels: Bool { rawValue >= KeyKind.prefix.rawValue }
    /// How many bytes of a beginning count: longer ones are told apart by their residual.
    static let prefixBytesMaximum = 32
}

/// A number or a text as 64 bits in the same order, though some that differ become the same.
enum OrderedKey {
    /// The bits of a value, and whether they are of a number or of a text; nil for a value without an order.
    static func of(_ value: FieldValue) -> (kind: KeyKind, bits: UInt64)? {
        if case .string(let text) = value {
            var text = text
            return (.text, text.withUTF8 { bits(ofText: UnsafeRawBufferPointer($0)) })
        }
        switch value.number {
        case .integer(let number): return (.number, bits(of: Double(number)))
        case .double(let number): return number.isNaN ? nil : (.number, bits(of: number))
        default: return nil
        }
    }

    /// The bits of a number; a whole number comes as the double that is nearest.
    static func bits(of number: Double) -> UInt64 {
        // Zero and negative zero are the same.
        let bits = (number + 0).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    /// The first eight bytes of a text.
    static func bits(ofText bytes: UnsafeRawBufferPointer) -> UInt64 {
        var bits: UInt64 = 0
        for index in 0..<min(8, bytes.count) { bits |= UInt64(bytes[index]) << UInt64(56 - 8 * index) }
        return bits
    }

    /// The finest level at which few intervals cover a range, and these intervals.
    ///
    /// An interval of level n holds 2^n neighbours.
    static func cover(_ bounds: ClosedRange<UInt64>, countMaximum: UInt64) -> (level: Int, cells: ClosedRange<UInt64>) {
        var level = 0
        while level < 63, bounds.upperBound >> level - bounds.lowerBound >> level >= countMaximum { level += 1 }
        return (level, bounds.lowerBound >> level...bounds.upperBound >> level)
    }
}

/// How many keys a dimension has at each level.
struct LevelCounts: BitwiseCopyable {
    private var counts = InlineArray<64, UInt32>(repeating: 0)

    /// Counts a key; tells whether it is the first of its level.
    mutating func add(_ level: Int) -> Bool {
        counts[level] += 1
        return counts[level] == 1
    }

    /// Counts a key no more; tells whether it was the last of its level.
    mutating func remove(_ level: Int) -> Bool {
        counts[level] -= 1
        return counts[level] == 0
    }
}
