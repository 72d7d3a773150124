public import RegistryCore

/// One row of an answer of a registry's database; columns are counted from 0.
///
/// Each registry has its own SQL, as it suits its database. Rows have the same meaning in all of them, so the types of
/// the core read themselves from rows.
public protocol RowReader {
    /// A number, or 1 or 0 for a truth value; 0 for NULL.
    func integer(_ column: Int32) -> Int64

    /// A number, or nil for NULL.
    func optionalInteger(_ column: Int32) -> Int64?

    /// A text; empty for NULL.
    func text(_ column: Int32) -> String

    /// A text, or nil for NULL.
    func optionalText(_ column: Int32) -> String?

    /// Bytes, or those of a text; none for NULL.
    func bytes(_ column: Int32) -> [UInt8]

    /// Reads bytes where they are.
    func withBytes<Value, Failure: Error>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value

    /// Says that the row is not as it can be, where it is and what to do.
    ///
    /// - Parameter what: the fault.
    /// - Returns: an error with the code `.corrupt`.
    func corrupt(_ what: String) -> RegistryError
}

/// A column that the registries write from a value, and how it is got from the value.
public enum StoredColumn<Value>: Sendable {
    /// A number or NULL.
    case integer(String, @Sendable (Value) -> Int64?)
    /// A text or NULL.
    case text(String, @Sendable (Value) -> String?)
    /// Bytes.
    case bytes(String, @Sendable (Value) -> [UInt8])
    /// A truth value.
    case truth(String, @Sendable (Value) -> Bool)

    /// The name of the column.
    public var name: String {
        switch self {
        case .integer(let name, _), .text(let name, _), .bytes(let name, _), .truth(let name, _): name
        }
    }

    /// The same column, got from a value that this one is a part of.
    func within<Whole>(_ part: @escaping @Sendable (Whole) -> Value) -> StoredColumn<Whole> {
        switch self {
        case .integer(let name, let get): .integer(name) { get(part($0)) }
        case .text(let name, let get): .text(name) { get(part($0)) }
        case .bytes(let name, let get): .bytes(name) { get(part($0)) }
        case .truth(let name, let get): .truth(name) { get(part($0)) }
        }
    }
}

extension Array {
    /// The names of columns, with commas between.
    public func names<Value>() -> String where Element == StoredColumn<Value> {
        map(\.name).joined(separator: ", ")
    }

    /// The `SET` list that replaces what is there by what would be inserted.
    func replacements<Value>() -> String where Element == StoredColumn<Value> {
        map { "\($0.name) = excluded.\($0.name)" }.joined(separator: ", ")
    }

    /// The names of columns of a table or row, with commas between.
    func names<Value>(of row: String) -> String where Element == StoredColumn<Value> {
        map { "\(row).\($0.name)" }.joined(separator: ", ")
    }
}
