/// A value that a statement takes, in PostgreSQL's binary form.
///
/// A text with a NUL byte is sent as NULL: PostgreSQL can neither store nor compare such a text, and NULL equals
/// nothing.
enum Parameter {
    case text(String?)
    case bytes([UInt8])
    case integer(Int64?)
    case texts([String])
    case optionalTexts([String?])
    case byteLists([[UInt8]])
    case integers([Int64])
    case optionalIntegers([Int64?])
}
