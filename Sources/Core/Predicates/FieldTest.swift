public import Geography

/// What a term asks of the value of a field.
///
/// Whatever the three languages can say comes down to these, so one index serves all. A missing field passes none of
/// them; neither does a value of a kind that the test does not speak of.
public enum FieldTest: Hashable, Sendable {
    /// The value equals this one.
    case equals(FieldValue, TextFolding)
    /// The value equals one of these: sorted, each once, at least two.
    case isIn([FieldValue], TextFolding)
    /// The value lies within bounds.
    case isInRange(ValueRange)
    /// The value is text that begins with this, case included; not empty.
    case beginsWith(String)
    /// The value is text that has this somewhere in it, case included; not empty.
    case containsText(String)
    /// The value is a list with a member that equals this one.
    case listContains(FieldValue, TextFolding)
    /// The value is a list with a member that equals one of these: sorted, each once, at least two.
    case listContainsAny([FieldValue], TextFolding)
    /// The value is a list with a text that begins with this, case included; not empty.
    case listMemberBeginsWith(String)
    /// The value is text, or a list of texts, in which one of these words occurs (`SearchTokens`): sorted, each once,
    /// not empty.
    ///
    /// The one test that may be about all fields of a record: then its term has an empty path.
    case containsAnyToken([String])
    /// The value is a place nearer to the centre than the radius; the circle itself is outside.
    case isWithin(Location, radiusMetres: Double)
}
