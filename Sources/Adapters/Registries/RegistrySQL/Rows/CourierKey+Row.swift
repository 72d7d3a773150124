public import RegistryCore

extension CourierKey {
    /// Reads the key from the one column of a row.
    ///
    /// - Throws: `RegistryError` with `.corrupt` if it has another length.
    public init(_ row: some RowReader) throws(RegistryError) {
        guard let key = CourierKey(bytes: row.bytes(0))
        else { throw row.corrupt("the key in the table courier_key has not 32 bytes") }
        self = key
    }
}
