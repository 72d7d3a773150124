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
    /// Whether keys of this kind come at levels, of which a record is probed only for those in use.
    var hasLevels: Bool { rawValue >= KeyKind.prefix.rawValue }
    /// How many bytes of a beginning count: longer ones are told apart by their residual.
    static let prefixBytesMaximum = 32
}
