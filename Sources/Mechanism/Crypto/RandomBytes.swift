import COpenSSL

/// Bytes for keys and salts, from OpenSSL's generator of random numbers.
///
/// Each thread has a generator of its own.
public enum RandomBytes {
    /// Makes new bytes.
    ///
    /// - Parameter count: how many.
    /// - Returns: the bytes.
    /// - Throws: `CryptoError` if the system has no random numbers.
    public static func make(count: Int) throws(CryptoError) -> [UInt8] {
        var bytes: [UInt8] = []
        try append(count, to: &bytes)
        return bytes
    }

    /// Appends new bytes.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - bytes: receives the new bytes at its end.
    /// - Throws: `CryptoError` if the system has no random numbers; then the array is as it was.
    public static func append(_ count: Int, to bytes: inout [UInt8]) throws(CryptoError) {
        guard let length = Int32(exactly: count), length >= 0 else {
            throw CryptoError(.libraryFailed, "\(count) random bytes are more than can be made at once")
        }
        ERR_clear_error()
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: count))
        let isFilled = bytes.withUnsafeMutableBytes { bytes in
            let room = UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
            return length == 0 || RAND_bytes(room.assumingMemoryBound(to: UInt8.self).baseAddress, length) == 1
        }
        guard isFilled else {
            bytes.removeLast(count)
            throw OpenSSLErrors.failure(of: "RAND_bytes")
        }
    }
}
