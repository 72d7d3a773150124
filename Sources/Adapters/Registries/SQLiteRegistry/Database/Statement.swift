import CSQLite
import RegistryCore
import RegistrySQL

/// One prepared statement, kept for the life of its connection.
///
/// Parameters and columns are counted as SQLite does: parameters from 1, columns from 0.
final class Statement {
    private let connection: Connection
    private let handle: OpaquePointer
    private var bindingFailure: Int32 = SQLITE_OK

    /// Prepares the statement.
    init(_ sql: String, connection: Connection) throws(RegistryError) {
        var prepared: OpaquePointer?
        let result = sqlite3_prepare_v3(
            connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard result == SQLITE_OK, let prepared else { throw connection.error(result) }
        self.connection = connection
        self.handle = prepared
    }

    deinit {
        sqlite3_finalize(handle)
    }

    // MARK: Parameters

    /// Binds a number.
    func bind(_ index: Int32, _ value: Int64) {
        note(sqlite3_bind_int64(handle, index, value))
    }

    /// Binds a number or NULL.
    func bind(_ index: Int32, _ value: Int64?) {
        if let value { bind(index, value) } else { bindNull(index) }
    }

    /// Binds a copy of a text.
    func bind(_ index: Int32, _ value: String) {
        var value = value
        note(
            value.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    // An empty text may have no address, and SQLite would read that as NULL.
                    guard let address = characters.baseAddress else {
                        return apus_sqlite3_bind_text_copy(handle, index, "", 0)
                    }
                    return apus_sqlite3_bind_text_copy(handle, index, address, Int32(characters.count))
                }
            })
    }

    /// Binds a copy of a text, or NULL.
    func bind(_ index: Int32, _ value: String?) {
        if let value { bind(index, value) } else { bindNull(index) }
    }

    /// Binds a copy of some bytes.
    func bind(_ index: Int32, _ value: [UInt8]) {
        note(
            value.withUnsafeBytes { bytes in
                apus_sqlite3_bind_blob_copy(handle, index, bytes.baseAddress, Int32(bytes.count))
            })
    }

    /// Binds NULL.
    func bindNull(_ index: Int32) {
        note(sqlite3_bind_null(handle, index))
    }

    /// Binds bytes without a copy; they must stay where they are until `reset`.
    func bindBorrowed(_ index: Int32, _ bytes: UnsafeRawBufferPointer, isText: Bool) {
        let count = Int32(clamping: bytes.count)
        if isText {
            let characters = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            note(sqlite3_bind_text(handle, index, characters, count, nil))
        } else {
            note(sqlite3_bind_blob(handle, index, bytes.baseAddress, count, nil))
        }
    }

    private func note(_ result: Int32) {
        if result != SQLITE_OK, bindingFailure == SQLITE_OK { bindingFailure = result }
    }

    // MARK: Running

    /// Goes to the next row; false if there is none.
    ///
    /// Call `reset` afterwards in any case.
    func step() throws(RegistryError) -> Bool {
        guard bindingFailure == SQLITE_OK else { throw connection.error(bindingFailure) }
        let result = sqlite3_step(handle)
        switch result {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw connection.error(result)
        }
    }

    /// Ends the run, so that the statement can be bound and run again.
    func reset() {
        sqlite3_reset(handle)
        bindingFailure = SQLITE_OK
    }

    /// Runs a statement whose rows do not matter.
    ///
    /// - Returns: how many rows it changed.
    @discardableResult
    func run() throws(RegistryError) -> Int {
        defer { reset() }
        while try step() {}
        return connection.changedRows
    }

    /// Runs the statement and answers the first row's number in the first column; nil if there is no row or it is NULL.
    func firstInteger() throws(RegistryError) -> Int64? {
        defer { reset() }
        guard try step() else { return nil }
        return optionalInteger(0)
    }

    /// Runs the statement and calls `body` for each row.
    func forEachRow(_ body: (Statement) throws(RegistryError) -> Void) throws(RegistryError) {
        defer { reset() }
        while try step() { try body(self) }
    }

    // MARK: Columns

    /// A number.
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// A number, or nil for NULL.
    func optionalInteger(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : integer(column)
    }

    /// A text; empty for NULL.
    func text(_ column: Int32) -> String {
        guard let characters = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: characters, count: count), as: UTF8.self)
    }

    /// Whether a column holds this text, to the byte; NULL is the empty text.
    func isText(_ column: Int32, _ text: String) -> Bool {
        let characters = sqlite3_column_text(handle, column)
        let found = UnsafeBufferPointer(start: characters, count: Int(sqlite3_column_bytes(handle, column)))
        return found.elementsEqual(text.utf8)
    }

    /// A text, or nil for NULL.
    func optionalText(_ column: Int32) -> String? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : text(column)
    }

    /// Bytes; none for NULL.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// Reads bytes where they are.
    func withBytes<Value, Failure: Error>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let start = sqlite3_column_blob(handle, column) else {
            return try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return try body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// Says that the row is not as it can be.
    func corrupt(_ what: String) -> RegistryError {
        RegistryError(.corrupt, RegistryError.corruptMessage(path: connection.path, reason: what))
    }
}

extension Statement: RowReader {
    /// Binds the columns of a value to as many parameters.
    func bind<Value>(_ columns: [StoredColumn<Value>], of value: Value, from first: Int32) {
        for (parameter, column) in zip(first..., columns) {
            switch column {
            case .integer(_, let get): bind(parameter, get(value))
            case .text(_, let get): bind(parameter, get(value))
            case .bytes(_, let get): bind(parameter, get(value))
            case .truth(_, let get): bind(parameter, get(value) ? 1 : 0)
            }
        }
    }
}

extension Array {
    /// The parameters of columns, with commas between.
    func parameters<Value>(from first: Int) -> String where Element == StoredColumn<Value> {
        indices.map { "?\($0 + first)" }.joined(separator: ", ")
    }

    /// The `SET` list that writes columns, with commas between.
    func assignments<Value>(from first: Int) -> String where Element == StoredColumn<Value> {
        enumerated().map { "\($0.element.name) = ?\($0.offset + first)" }.joined(separator: ", ")
    }
}

/// The prepared statements of one connection, by their text.
final class StatementCache {
    private let connection: Connection
    private var statements: [String: Statement] = [:]

    /// Creates an empty cache.
    init(connection: Connection) {
        self.connection = connection
    }

    /// The statement with this text, prepared at its first use.
    ///
    /// The texts come from constants, so their number is bounded.
    func statement(_ sql: String) throws(RegistryError) -> Statement {
        if let statement = statements[sql] { return statement }
        let statement = try Statement(sql, connection: connection)
        statements[sql] = statement
        return statement
    }
}
