/// How large the record of a single event may be: everything that a publisher controls has a bound.
public enum RecordLimits {
    /// How many fields a record may have, those of nested objects among them.
    public static let fieldsMaximum = 256
    /// How many members a list may have.
    public static let membersMaximum = 256
    /// The length of a text, of bytes and of the name of another record, in bytes.
    public static let textBytesMaximum = 64 * 1024
    /// The length of the path of a field, in bytes.
    public static let pathBytesMaximum = PredicateLimits.pathBytesMaximum
    /// How deep objects are looked into: what lies deeper can not be asked for and is left out.
    public static let pathNamesMaximum = PredicateLimits.pathNamesMaximum
}
