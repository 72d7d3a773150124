public import PostgreSQL
public import RegistryCore
public import RegistrySQL

extension Row: RowReader {
    /// An integer; 0 for NULL.
    public func integer(_ column: Int32) -> Int64 { rows.integer(number, column) }
    /// An integer, or nil for NULL.
    public func optionalInteger(_ column: Int32) -> Int64? { rows.optionalInteger(number, column) }
    /// A text; empty for NULL.
    public func text(_ column: Int32) -> String { rows.text(number, column) }
    /// A text, or nil for NULL.
    public func optionalText(_ column: Int32) -> String? { rows.optionalText(number, column) }
    /// Bytes.
    public func bytes(_ column: Int32) -> [UInt8] { Array(rows.bytes(number, column)) }

    /// Gives bytes where they lie.
    public func withBytes<Value, Failure: Error>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value { try body(UnsafeRawBufferPointer(rows.bytes(number, column))) }

    /// The error of a row that the registry cannot have written.
    public func corrupt(_ what: String) -> RegistryError {
        RegistryError(
            .corrupt, "The registry \(rows.address) is damaged (\(what)). Stop what uses it, and restore a backup.")
    }
}
