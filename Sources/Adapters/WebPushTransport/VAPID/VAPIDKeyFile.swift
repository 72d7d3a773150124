public import ServiceClient

/// Reads the file with the VAPID key of an app.
public enum VAPIDKeyFile {
    /// Reads a key.
    ///
    /// - Parameter path: the file.
    /// - Returns: the key.
    /// - Throws: `ServiceError` with `keyUnreadable` or `keyInvalid`, as `CredentialFile` and `VAPIDKey`.
    public static func read(path: String) throws(ServiceError) -> VAPIDKey {
        let file = try CredentialFile(path: path, expected: "the file with the VAPID key")
        do throws(VAPIDError) {
            return try VAPIDKey(reading: file.bytes)
        } catch {
            throw ServiceError(.keyInvalid, "\(path): \(error.message)")
        }
    }
}
