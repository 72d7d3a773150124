/// The parsed document of one parser: simdjson's tape, read in place.
///
/// Each word holds a type in its top eight bits and a payload in the others. The payload of a string is its offset
/// among `strings`; that of an opening bracket holds, in its low 32 bits, the index of the word after the closing one.
/// A number's value is the word after its own. Source: doc/tape.md of simdjson.
@usableFromInline
struct JSONTape {
    /// The words; nil while there is no document.
    @usableFromInline var words: UnsafePointer<UInt64>?
    /// The strings, each as four bytes of length and its bytes.
    @usableFromInline var strings: UnsafePointer<UInt8>?
    /// Counts the documents, so that a value of an earlier one is recognised.
    @usableFromInline var generation: UInt32 = 0

    init() {}

    /// The types of words.
    @usableFromInline
    enum WordType {
        @usableFromInline static let object = UInt8(ascii: "{")
        @usableFromInline static let array = UInt8(ascii: "[")
        @usableFromInline static let string = UInt8(ascii: "\"")
        @usableFromInline static let signed = UInt8(ascii: "l")
        @usableFromInline static let unsigned = UInt8(ascii: "u")
        @usableFromInline static let double = UInt8(ascii: "d")
        @usableFromInline static let yes = UInt8(ascii: "t")
        @usableFromInline static let no = UInt8(ascii: "f")
        @usableFromInline static let null = UInt8(ascii: "n")
    }

    @inlinable
    func word(_ index: UInt32) -> UInt64 {
        guard let words else { preconditionFailure("there is no JSON document") }
        return words[Int(index)]
    }

    @inlinable
    func type(_ index: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: word(index) >> 56) }

    /// The index of the word after the value that begins at `index`.
    @inlinable
    func indexAfter(_ index: UInt32) -> UInt32 {
        let word = word(index)
        switch UInt8(truncatingIfNeeded: word >> 56) {
        case WordType.object, WordType.array: return UInt32(truncatingIfNeeded: word)
        case WordType.signed, WordType.unsigned, WordType.double: return index + 2
        default: return index + 1
        }
    }

    /// The bytes of the string at `index`, without their quotes and unescaped.
    @inlinable
    func string(_ index: UInt32) -> UnsafeBufferPointer<UInt8> {
        guard let strings else { preconditionFailure("there is no JSON document") }
        let start = strings + Int(word(index) & 0x00ff_ffff_ffff_ffff)
        let count = UnsafeRawPointer(start).loadUnaligned(as: UInt32.self)
        return UnsafeBufferPointer(start: start + 4, count: Int(count))
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes are those of a literal, which needs no `String` for the comparison.
    @inlinable
    func isEqual(to text: StaticString) -> Bool {
        guard text.hasPointerRepresentation else { return false }
        guard count == text.utf8CodeUnitCount else { return false }
        let start = text.utf8Start
        for position in 0..<count where self[position] != start[position] { return false }
        return true
    }
}
