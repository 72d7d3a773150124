import CPostgres

/// The answer to one statement, in binary form; rows and columns are counted from 0.
public final class Rows {
    private let result: OpaquePointer
    /// Where the server is, for messages.
    public let address: String
    /// How many rows there are.
    public let count: Int

    /// Takes a result of libpq over.
    init(_ result: OpaquePointer, address: String) {
        self.result = result
        self.address = address
        count = Int(PQntuples(result))
    }

    deinit { PQclear(result) }

    /// How many rows the statement added, changed or removed.
    public var affectedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// An integer of 2, 4 or 8 bytes, or 1 or 0 for a truth value; 0 for NULL.
    public func integer(_ row: Int, _ column: Int32) -> Int64 {
        let field = UnsafeRawBufferPointer(bytes(row, column))
        switch field.count {
        case 1: return Int64(field[0])
        case 2: return Int64(Int16(bigEndian: field.loadUnaligned(as: Int16.self)))
        case 4: return Int64(Int32(bigEndian: field.loadUnaligned(as: Int32.self)))
        case 8: return Int64(bigEndian: field.loadUnaligned(as: Int64.self))
        default: return 0
        }
    }

    /// An integer, or nil for NULL.
    public func optionalInteger(_ row: Int, _ column: Int32) -> Int64? {
        PQgetisnull(result, Int32(row), column) == 1 ? nil : integer(row, column)
    }

    /// A text; empty for NULL.
    public func text(_ row: Int, _ column: Int32) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

    /// A text, or nil for NULL.
    public func optionalText(_ row: Int, _ column: Int32) -> String? {
        PQgetisnull(result, Int32(row), column) == 1 ? nil : text(row, column)
    }

    /// The bytes of a field, which live as long as the answer.
    public func bytes(_ row: Int, _ column: Int32) -> UnsafeBufferPointer<UInt8> {
        let length = Int(PQgetlength(result, Int32(row), column))
        let start = PQgetvalue(result, Int32(row), column).map { UnsafeRawPointer($0) }
        return UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : length)
    }
}

extension Rows: RandomAccessCollection {
    /// The first row.
    public var startIndex: Int { 0 }
    /// Behind the last row.
    public var endIndex: Int { count }
    /// A row.
    public subscript(row: Int) -> Row { Row(rows: self, number: row) }
}

/// One row of an answer.
public struct Row {
    /// The answer.
    public let rows: Rows
    /// The number of the row in its answer.
    public let number: Int
}
