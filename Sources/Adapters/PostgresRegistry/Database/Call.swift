import PushCore

/// One statement with its parameters.
struct Call {
    /// The statement; its parameters have their types in the text (`$1::bigint`), and are sent in binary form.
    ///
    /// The texts are constants of this target, so the number of prepared statements is bounded.
    let sql: String
    /// The values, in the order of their numbers.
    let parameters: [Parameter]

    /// Creates a call.
    init(_ sql: String, _ parameters: [Parameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}

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

extension Array {
    /// The names that `unnest` gives columns, which make up rows of arrays.
    ///
    /// - Parameter first: the parameter of the first column.
    /// - Returns: arrays with their types and commas between.
    func arrays<Value>(from first: Int) -> String where Element == StoredColumn<Value> {
        enumerated().map { "$\($0.offset + first)::\($0.element.elementType)[]" }.joined(separator: ", ")
    }

    /// The columns as expressions of a row of arrays.
    ///
    /// - Parameter row: what the statement calls the row.
    /// - Returns: expressions with commas between.
    func values<Value>(of row: String) -> String where Element == StoredColumn<Value> {
        map { column in
            if case .truth = column { "\(row).\(column.name) <> 0" } else { "\(row).\(column.name)" }
        }.joined(separator: ", ")
    }

    /// What `SET` says to write columns, none of them of truth values, from a row of arrays.
    func assignments<Value>(of row: String) -> String where Element == StoredColumn<Value> {
        map { "\($0.name) = \(row).\($0.name)" }.joined(separator: ", ")
    }

    /// The arrays themselves, one for each column, from values.
    func parameters<Value>(_ values: [Value]) -> [Parameter] where Element == StoredColumn<Value> {
        map { column in
            switch column {
            case .integer(_, let get): .optionalIntegers(values.map(get))
            case .text(_, let get): .optionalTexts(values.map(get))
            case .bytes(_, let get): .byteLists(values.map(get))
            case .truth(_, let get): .integers(values.map { get($0) ? 1 : 0 })
            }
        }
    }
}

extension StoredColumn {
    fileprivate var elementType: String {
        switch self {
        case .integer, .truth: "bigint"
        case .text: "text"
        case .bytes: "bytea"
        }
    }
}
