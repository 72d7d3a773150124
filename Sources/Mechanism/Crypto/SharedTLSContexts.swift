import COpenSSL
import Glibc
import Synchronization

/// The contexts of connections to servers that are in use: one for all users of the same trust anchors and protocols.
///
/// A context is forgotten with its last user. One whose files have changed since is not given to new users.
final class SharedTLSContexts: Sendable {
    private struct Key: Hashable {
        let extraFile: String?
        let protocols: [String]
        /// How the extra file and the system's anchors look.
        let signatures: [FileSignature?]
    }

    private struct Entry: Sendable {
        weak var context: TLSContext?
    }

    private let entries = Mutex<[Key: Entry]>([:])

    /// The context that others use already, or a new one.
    ///
    /// - Parameters:
    ///   - extraFile: the PEM file with anchors besides the system's.
    ///   - protocols: the protocols that the context offers.
    ///   - make: makes the context; two threads may do so at the same time.
    /// - Returns: the context.
    /// - Throws: the error of `make`.
    func context(
        _ extraFile: String?, _ protocols: [String], make: () throws(CryptoError) -> TLSContext
    ) throws(CryptoError) -> TLSContext {
        // Looked at before the files are read, so that a change between the two is seen the next time.
        let signatures = ([extraFile].compactMap { $0 } + Self.systemPaths).map { FileSignature(path: $0) }
        let key = Key(extraFile: extraFile, protocols: protocols, signatures: signatures)
        if let context = entries.withLock({ $0[key]?.context }) { return context }
        let made = try make()
        entries.withLock { entries in
            entries = entries.filter { $0.value.context != nil }
            entries[key] = Entry(context: made)
        }
        return made
    }

    /// Where OpenSSL reads the system's anchors: a file, and folders (`A:B`) that it looks into when it needs one.
    private static var systemPaths: [String] {
        [
            (X509_get_default_cert_file_env(), X509_get_default_cert_file()),
            (X509_get_default_cert_dir_env(), X509_get_default_cert_dir()),
        ].flatMap { variable, path in
            let chosen = variable.flatMap { getenv($0) } ?? path.map { UnsafeMutablePointer(mutating: $0) }
            return chosen.map { String(cString: $0).split(separator: ":").map(String.init) } ?? []
        }
    }
}
