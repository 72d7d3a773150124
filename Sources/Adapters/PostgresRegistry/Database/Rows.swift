import CPostgres

/// The answer to one statement, in binary form; rows and columns are counted from 0.
final class Rows {
    private let result: OpaquePointer

    /// Takes a result of libpq over.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    /// How many rows there are.
    var count: Int { Int(PQntuples(result)) }

    /// How many rows the statement added, changed or removed.
    var affectedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// An integer of 2, 4 or 8 bytes; 0 for NULL.
    func integer(_ row: Int, _ column: Int32) -> Int64 {
        let field = UnsafeRawBufferPointer(bytes(row, column))
        switch field.count {
        case 2: return Int64(Int16(bigEndian: field.loadUnaligned(as: Int16.self)))
        case 4: return Int64(Int32(bigEndian: field.loadUnaligned(as: Int32.self)))
        case 8: return Int64(bigEndian: field.loadUnaligned(as: Int64.self))
        default: return 0
        }
    }

    /// An integer, or nil for NULL.
    func optionalInteger(_ row: Int, _ column: Int32) -> Int64? {
        PQgetisnull(result, Int32(row), column) == 1 ? nil : integer(row, column)
    }

    /// A text; empty for NULL.
    func text(_ row: Int, _ column: Int32) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

    /// A text, or nil for NULL.
    func optionalText(_ row: Int, _ column: Int32) -> String? {
        PQgetisnull(result, Int32(row), column) == 1 ? nil : text(row, column)
    }

    /// The bytes of a field, which live as long as the answer.
    func bytes(_ row: Int, _ column: Int32) -> UnsafeBufferPointer<UInt8> {
        let length = Int(PQgetlength(result, Int32(row), column))
        let start = PQgetvalue(result, Int32(row), column).map { UnsafeRawPointer($0) }
        return UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : length)
    }
}
