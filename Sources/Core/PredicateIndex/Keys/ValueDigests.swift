internal import Geography
import Hashing
import Predicates
internal import UnicodeText

/// Digests of values that are the same exactly for values that are equal (`FieldValue.isEqual`).
struct ValueDigests: BitwiseCopyable, Sendable {
    /// The kinds of values that can be equal to each other.
    private enum Kind: UInt64 {
        case text = 1
        case integer
        case fraction
        case bytes
        case reference
        case place
        case list
    }

    private let start: WordDigest

    /// Makes digests under a seed, which must be secret: subscribers choose the values.
    init(seed: UInt64) { start = WordDigest(seed: seed) }

    /// The digest of a name, a word or a piece of text.
    func of(_ text: String) -> WordDigest {
        var digest = start
        digest.mix(text)
        digest.finish()
        return digest
    }

    /// The digest of a piece of text.
    func of(_ text: UnsafeRawBufferPointer) -> WordDigest {
        var digest = start
        digest.mix(text)
        digest.finish()
        return digest
    }

    /// The digest of a number of the registry.
    func of(row: Int64) -> WordDigest {
        var digest = start
        digest.mix(word: UInt64(bitPattern: row))
        digest.finish()
        return digest
    }

    /// The digest of a value under a folding; nil if the value equals nothing, not even itself.
    func of(_ value: FieldValue, _ folding: TextFolding) -> WordDigest? {
        var digest = start
        guard Self.mix(value, folding, into: &digest) else { return nil }
        digest.finish()
        return digest
    }

    private static func mix(_ value: FieldValue, _ folding: TextFolding, into digest: inout WordDigest) -> Bool {
        switch value {
        case .string(let text):
            digest.mix(word: Kind.text.rawValue)
            digest.mix(folding == .exact ? text : TextForm.caseFolded.applied(to: text))
        case .integer(let number), .date(let number): mix(number, into: &digest)
        case .boolean(let isTrue): mix(isTrue ? 1 : 0, into: &digest)
        case .double(let number):
            guard !number.isNaN else { return false }
            if let integer = Int64(exactly: number) {
                mix(integer, into: &digest)
            } else {
                digest.mix(word: Kind.fraction.rawValue)
                digest.mix(word: number.bitPattern)
            }
        case .bytes(let bytes):
            digest.mix(word: Kind.bytes.rawValue)
            bytes.withUnsafeBytes { digest.mix($0) }
        case .reference(let recordName, let zoneName):
            digest.mix(word: Kind.reference.rawValue)
            digest.mix(recordName)
            digest.mix(zoneName)
        case .location(let place):
            guard !place.latitude.isNaN, !place.longitude.isNaN else { return false }
            digest.mix(word: Kind.place.rawValue)
            // Zero and negative zero are equal.
            digest.mix(word: (place.latitude + 0).bitPattern)
            digest.mix(word: (place.longitude + 0).bitPattern)
        case .list(let members):
            digest.mix(word: Kind.list.rawValue)
            digest.mix(word: UInt64(members.count))
            return members.allSatisfy { mix($0, folding, into: &digest) }
        }
        return true
    }

    private static func mix(_ number: Int64, into digest: inout WordDigest) {
        digest.mix(word: Kind.integer.rawValue)
        digest.mix(word: UInt64(bitPattern: number))
    }
}
