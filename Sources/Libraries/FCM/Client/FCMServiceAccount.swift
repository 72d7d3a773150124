internal import FCMTransport

/// The service account that may send for a project, as the JSON file that the Firebase console hands out.
///
/// It never prints.
public struct FCMServiceAccount: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    let content: ServiceAccountCredentials.Content

    /// The account in a file; keep its mode 600.
    ///
    /// A new key in the file is used within the hour. A file that cannot be read or holds no account is found when the
    /// client is made.
    public static func file(_ path: String) -> FCMServiceAccount { FCMServiceAccount(content: .file(path)) }

    /// The contents of such a file, for example as `Data`, or the `utf8` of a text.
    public static func json(_ bytes: some Sequence<UInt8>) -> FCMServiceAccount {
        FCMServiceAccount(content: .json(Array(bytes)))
    }

    /// The kind of the source.
    public var description: String { ServiceAccountCredentials(content).description }

    /// Shows nothing of the account.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
