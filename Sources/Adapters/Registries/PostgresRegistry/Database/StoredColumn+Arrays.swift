import PostgreSQL
import RegistrySQL

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
    /// - Parameter row: the statement's name of the row.
    /// - Returns: expressions with commas between.
    func values<Value>(of row: String) -> String where Element == StoredColumn<Value> {
        map { column in
            if case .truth = column { "\(row).\(column.name) <> 0" } else { "\(row).\(column.name)" }
        }.joined(separator: ", ")
    }

    /// The `SET` list that writes columns, except truth values, from a row of arrays.
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
