public import Geography
internal import UnicodeText

/// What a field of a record holds, or what a predicate compares it with.
///
/// Make values with `of`, which brings them into the one form that equal values share: text is composed (NFC), a whole
/// number that came as a fraction is an integer, there is no negative zero.
public enum FieldValue: Hashable, Sendable {
    /// Text, in NFC.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number that is no `integer`: with a fraction, or beyond its range; always finite.
    case double(Double)
    /// True or false. It compares as the numbers 1 and 0, because CloudKit has no other way to store it.
    case boolean(Bool)
    /// A moment in milliseconds since 1970. It compares as that number.
    case date(milliseconds: Int64)
    /// Bytes.
    case bytes([UInt8])
    /// Another record, by its name and that of the zone it lies in, both in NFC.
    ///
    /// Few records have one: stored indirectly, it does not make every other value larger.
    indirect case reference(recordName: String, zoneName: String)
    /// A place.
    case location(Location)
    /// Several values.
    case list([FieldValue])

    /// The zone that a record lies in, and a reference points into, unless another one is named (CloudKit).
    public static let defaultZoneName = "_defaultZone"

    /// Text, brought into its form.
    public static func of(_ text: String) -> FieldValue { .string(TextForm.canonical.applied(to: text)) }

    /// A number, brought into its form; nil if it is not a number.
    ///
    /// A number beyond the range of doubles counts as the largest double, in records and conditions alike.
    public static func of(_ number: Double) -> FieldValue? {
        guard !number.isNaN else { return nil }
        if let integer = Int64(exactly: number) { return .integer(integer) }
        return .double(min(max(number, -.greatestFiniteMagnitude), .greatestFiniteMagnitude))
    }

    /// A reference to a record, the names brought into their form.
    public static func reference(
        to recordName: String, zoneName: String = FieldValue.defaultZoneName
    ) -> FieldValue {
        .reference(
            recordName: TextForm.canonical.applied(to: recordName), zoneName: TextForm.canonical.applied(to: zoneName))
    }
}
