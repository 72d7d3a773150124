extension FanOutChunk {
    /// The rows of the subscriptions as bytes, 8 for each, big endian: how registries store them.
    public var subscriptionBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(subscriptions.count * 8)
        for row in subscriptions { withUnsafeBytes(of: row.bigEndian) { bytes.append(contentsOf: $0) } }
        return bytes
    }

    /// Reads what `subscriptionBytes` gave; bytes that are too few for a row are passed over.
    public static func subscriptions(fromBytes bytes: some Collection<UInt8>) -> [Int64] {
        var rows: [Int64] = []
        rows.reserveCapacity(bytes.count / 8)
        var row: Int64 = 0
        for (index, byte) in bytes.enumerated() {
            row = row << 8 | Int64(byte)
            if index % 8 == 7 {
                rows.append(row)
                row = 0
            }
        }
        return rows
    }
}
