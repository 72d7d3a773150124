/// One statement with its parameters.
public struct Call: Sendable {
    /// The statement; its parameters have their types in the text (`$1::bigint`), and are sent in binary form.
    ///
    /// The texts come from constants, so the number of prepared statements is bounded.
    public let sql: String
    /// The values, in the order of their numbers.
    public let parameters: [Parameter]

    /// Begins a transaction.
    public static let begin = Call("BEGIN ISOLATION LEVEL READ COMMITTED")

    /// Whether this begins a transaction.
    var beginsTransaction: Bool { sql == Self.begin.sql }

    /// Creates a call.
    public init(_ sql: String, _ parameters: [Parameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}

/// A value that a statement takes, in PostgreSQL's binary form.
///
/// A text with a NUL byte is sent as NULL: PostgreSQL can neither store nor compare such a text, and NULL equals
/// nothing.
public enum Parameter: Sendable {
    case text(String?)
    case bytes([UInt8])
    case integer(Int64?)
    case texts([String])
    case optionalTexts([String?])
    case byteLists([[UInt8]])
    case integers([Int64])
    case optionalIntegers([Int64?])
}

/// The parameters of one statement in PostgreSQL's binary form, in one piece of memory that is used again and again.
///
/// The forms: integers are 8 bytes, big endian; texts and bytes are themselves; an array is its number of dimensions,
/// whether it has NULLs, the type of its elements, length and lower bound, then each element with its length before it
/// (`array_recv` in PostgreSQL's arrayfuncs.c).
struct ParameterBuffer {
    /// The object identifiers of the element types (PostgreSQL, `pg_type.dat`).
    private enum ElementType: UInt32 {
        case bytes = 17
        case integer = 20
        case text = 25
    }

    private(set) var bytes: [UInt8] = []
    /// Where each parameter lies; nil is NULL.
    private(set) var ranges: [Range<Int>?] = []

    /// Forgets the parameters and keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ranges.removeAll(keepingCapacity: true)
    }

    /// Adds a parameter.
    mutating func append(_ parameter: Parameter) {
        let start = bytes.count
        switch parameter {
        case .text(let text):
            guard let text, appendText(text) else { return ranges.append(nil) }
        case .bytes(let value):
            bytes.append(contentsOf: value)
        case .integer(let value):
            guard let value else { return ranges.append(nil) }
            appendInteger(value)
        case .texts(let list):
            appendArray(of: .text, list) { buffer, text in buffer.appendText(text) }
        case .optionalTexts(let list):
            appendArray(of: .text, list) { buffer, text in text.map { buffer.appendText($0) } ?? false }
        case .byteLists(let list):
            appendArray(of: .bytes, list) { buffer, value in
                buffer.bytes.append(contentsOf: value)
                return true
            }
        case .integers(let list):
            appendArray(of: .integer, list) { buffer, value in
                buffer.appendInteger(value)
                return true
            }
        case .optionalIntegers(let list):
            appendArray(of: .integer, list) { buffer, value in
                if let value { buffer.appendInteger(value) }
                return value != nil
            }
        }
        ranges.append(start..<bytes.count)
    }

    /// Adds a text's bytes; false if it has a NUL.
    private mutating func appendText(_ text: String) -> Bool {
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        if bytes[start...].contains(0) {
            bytes.removeSubrange(start...)
            return false
        }
        return true
    }

    private mutating func appendInteger(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Adds an array whose elements `append` adds, or answers false for NULL.
    private mutating func appendArray<Element>(
        of type: ElementType, _ list: [Element], _ append: (inout ParameterBuffer, Element) -> Bool
    ) {
        // An empty array has no dimension.
        appendInteger(Int32(list.isEmpty ? 0 : 1))
        appendInteger(Int32(1))
        appendInteger(type.rawValue)
        guard !list.isEmpty else { return }
        appendInteger(Int32(clamping: list.count))
        appendInteger(Int32(1))
        for element in list {
            let start = bytes.count
            appendInteger(Int32(-1))
            guard append(&self, element) else { continue }
            let length = UInt32(bytes.count - start - 4)
            for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
        }
    }
}
