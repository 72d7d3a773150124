import Notifications
import PostgreSQL
import RegistryCore
import RegistrySQL

/// The rests of addresses, which are asked for apart from the rows of devices.
extension PostgresRegistry {
    /// Asks for the rests of the addresses in an answer, all at once; nearly always there are none.
    ///
    /// - Parameters:
    ///   - rows: rows of devices.
    ///   - first: where `Recipient.readColumns` begin.
    /// - Returns: the rests by the number of the row; a device that has changed since has none.
    /// - Throws: `RegistryError` if the store cannot answer.
    func storedAddresses(in rows: Rows, from first: Int32) throws(RegistryError) -> [Int: StoredAddress] {
        let numbers = rows.indices.filter { Recipient.hasStoredAddress(rows[$0], from: first) }
        guard !numbers.isEmpty else { return [:] }
        var rests: [Int: StoredAddress] = [:]
        let call = AddressCalls.rests(
            of: numbers.map { rows.text($0, first) }, keys: numbers.map { Array(rows.bytes($0, first + 2)) })
        for row in try ask([call])[0] { rests[numbers[Int(row.integer(0)) - 1]] = StoredAddress(row, from: 1) }
        return rests
    }

    /// Reads, and reads once more if a device looks damaged, because it may have changed between the question for its
    /// row and that for the rest of its address.
    func rereading<Value>(_ body: () throws(RegistryError) -> Value) throws(RegistryError) -> Value {
        do throws(RegistryError) {
            return try body()
        } catch {
            guard error.code == .corrupt else { throw error }
            return try body()
        }
    }
}

/// The statements about what the keys of addresses have no room for.
enum AddressCalls {
    /// Whether the schema is of a version that has rests of addresses.
    static let hasRests = Call("SELECT (to_regclass('apus.device_address') IS NOT NULL)::int")

    /// The rests of the addresses of devices that still have these keys: index in the list from 1, then the columns.
    static func rests(of deviceIDs: [String], keys: [[UInt8]]) -> Call {
        Call(
            """
            SELECT r.k, \(StoredAddress.readColumns)
            FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY r(name, token, k)
            JOIN apus.device d ON d.device_id = r.name AND d.token = r.token
            JOIN apus.device_address x ON x.device = d.id
            """, [.texts(deviceIDs), .byteLists(keys)])
    }
}
