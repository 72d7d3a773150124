internal import Geography
import Hashing
import Predicates

/// A field of the record that is being matched, and what was made of it.
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

    /// What has been made.
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
