internal import Geography
import Hashing
import Predicates
internal import UnicodeText

/// The record that is being matched, laid out for many tests; converted fields are kept for later tests.
///
/// Values are converted on demand, and all memory is reused for the next record.
struct RecordView: ~Copyable {
    /// A part of one of the arrays.
    struct Extent: BitwiseCopyable {
        var start = 0
        var count = 0
    }

    let hashes: ValueDigests
    /// The values of the record, in the order of its paths.
    private(set) var values: [FieldValue] = []
    /// The fields, in the same order.
    private(set) var fields = ScratchArray<RecordField>()
    /// Digests that fields and keys were turned into.
    var digests = ScratchArray<WordDigest>()
    /// The texts of fields.
    private(set) var bytes = ScratchArray<UInt8>()
    /// The work that was done, and how much may be.
    var steps = 0

    init(_ hashes: ValueDigests) { self.hashes = hashes }

    /// Begins a record.
    mutating func begin(_ values: [FieldValue]) {
        self.values = values
        steps = 0
        // In place: a copy of each value would count references that nothing here keeps.
        values.withUnsafeBufferPointer { for index in $0.indices { fields.append(RecordField($0[index])) } }
    }

    /// Ends it: nothing of it is kept.
    mutating func end() {
        values = []
        fields.removeAll()
        digests.removeAll()
        bytes.removeAll()
    }

    /// The memory that is held, in bytes.
    var memoryBytes: Int { fields.memoryBytes + digests.memoryBytes + bytes.memoryBytes }

    // MARK: - Digests and texts of fields

    /// The digest of a value; nil if the value equals nothing.
    mutating func digest(of field: Int, isFolded: Bool) -> WordDigest? {
        let known: RecordField.Known = isFolded ? .foldedDigest : .digest
        let entry = fields.pointer(field)
        if !entry.pointee.known.contains(known) {
            entry.pointee.known.insert(known)
            if let digest = hashes.of(values[field], isFolded ? .caseInsensitive : .exact) {
                if isFolded { entry.pointee.foldedDigest = digest } else { entry.pointee.digest = digest }
            } else {
                entry.pointee.equalsNothing = true
            }
        }
        guard !entry.pointee.equalsNothing else { return nil }
        return isFolded ? entry.pointee.foldedDigest : entry.pointee.digest
    }

    /// The bytes of a text, in `bytes`; nil if the field is none.
    mutating func text(of field: Int) -> Extent? {
        let entry = fields.pointer(field)
        guard entry.pointee.kind == .text else { return nil }
        if !entry.pointee.known.contains(.text), case .string(var text) = values[field] {
            entry.pointee.known.insert(.text)
            let start = bytes.count
            text.withUTF8 { bytes.append($0) }
            entry.pointee.text = Extent(start: start, count: bytes.count - start)
        }
        return entry.pointee.text
    }

    /// The bytes at an extent, until the next text is asked for.
    @inline(__always)
    func bytes(_ extent: Extent) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes.pointer(extent.start), count: extent.count)
    }

    /// The digests of the members of a list, in `digests`; none if the field is no list.
    mutating func members(of field: Int, isFolded: Bool) -> Extent {
        let known: RecordField.Known = isFolded ? .foldedMembers : .members
        let entry = fields.pointer(field)
        if !entry.pointee.known.contains(known), case .list(let members) = values[field] {
            entry.pointee.known.insert(known)
            let start = digests.count
            for member in members {
                if let digest = hashes.of(member, isFolded ? .caseInsensitive : .exact) { digests.append(digest) }
            }
            let extent = Extent(start: start, count: digests.count - start)
            if isFolded { entry.pointee.foldedMembers = extent } else { entry.pointee.members = extent }
        }
        return isFolded ? entry.pointee.foldedMembers : entry.pointee.members
    }

    /// The digests of the words of a text, or of the texts in a list, in `digests`.
    mutating func words(of field: Int) -> Extent {
        let entry = fields.pointer(field)
        if !entry.pointee.known.contains(.words) {
            entry.pointee.known.insert(.words)
            let start = digests.count
            if case .list(let members) = values[field] {
                for case .string(let text) in members { appendWords(of: text) }
            } else if case .string(let text) = values[field] {
                appendWords(of: text)
            }
            entry.pointee.words = Extent(start: start, count: digests.count - start)
        }
        return entry.pointee.words
    }

    private mutating func appendWords(of text: String) {
        steps += text.utf8.count / 64
        for word in SearchTokens.of(text) { digests.append(hashes.of(word)) }
    }
}

/// A field of the record that is being matched, and its converted forms.
struct RecordField: BitwiseCopyable {
    /// The kinds of values that tests tell apart.
    enum Kind: UInt8 {
        case integer
        case double
        case text
        case place
        case list
        case other
    }

    /// The forms that exist already.
    struct Known: OptionSet, BitwiseCopyable {
        let rawValue: UInt8

        static let digest = Known(rawValue: 1)
        static let foldedDigest = Known(rawValue: 2)
        static let text = Known(rawValue: 4)
        static let members = Known(rawValue: 8)
        static let foldedMembers = Known(rawValue: 16)
        static let words = Known(rawValue: 32)
    }

    var kind: Kind
    var known: Known = []
    var equalsNothing = false
    /// The bits of the number.
    var number: UInt64 = 0
    var place: Location?
    var digest = WordDigest.zero
    var foldedDigest = WordDigest.zero
    var text = RecordView.Extent()
    var members = RecordView.Extent()
    var foldedMembers = RecordView.Extent()
    var words = RecordView.Extent()

    @inline(__always)
    init(_ value: borrowing FieldValue) {
        switch value {
        case .integer(let value), .date(let value):
            kind = .integer
            number = UInt64(bitPattern: value)
        case .boolean(let value):
            kind = .integer
            number = value ? 1 : 0
        case .double(let value):
            kind = .double
            number = value.bitPattern
        case .string: kind = .text
        case .location(let value):
            kind = .place
            place = value
        case .list: kind = .list
        case .bytes, .reference: kind = .other
        }
    }

    /// The number; nil if it is none.
    var value: FieldValue? {
        switch kind {
        case .integer: .integer(Int64(bitPattern: number))
        case .double: .double(Double(bitPattern: number))
        case .text, .place, .list, .other: nil
        }
    }
}

/// A path of a field that predicates ask for.
struct PathEntry: BitwiseCopyable {
    /// The digest of the path.
    var digest: WordDigest
    /// How many dimensions and residual terms use it.
    var users: UInt32 = 0
    /// The change in which the field was seen last, and where in it.
    var seenIn: UInt64 = 0
    var field: UInt32 = 0

    init(digest: WordDigest) { self.digest = digest }

    /// Where in the record of a change the field is; nil if it is missing.
    @inline(__always)
    func field(in change: UInt64) -> Int? { seenIn == change ? Int(field) : nil }
}
