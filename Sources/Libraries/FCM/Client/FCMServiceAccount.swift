internal import FCMTransport
internal import ServiceClient

/// The service account that may send for a project, as the JSON file that the Firebase console hands out.
///
/// It never prints.
public struct FCMServiceAccount: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    private enum Source: Hashable, Sendable {
        case file(String)
        case json([UInt8])
    }

    private let source: Source

    /// The account in a file; keep its mode 600.
    ///
    /// A new key in the file is used within the hour.
    public static func file(_ path: String) -> FCMServiceAccount { FCMServiceAccount(source: .file(path)) }

    /// The contents of such a file, for example as `Data`, or the `utf8` of a text.
    public static func json(_ bytes: some Sequence<UInt8>) -> FCMServiceAccount {
        FCMServiceAccount(source: .json(Array(bytes)))
    }

    /// The kind of the source.
    public var description: String {
        switch source {
        case .file(let path): "the service account in \(path)"
        case .json: "a service account"
        }
    }

    /// Shows nothing of the account.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Reads the account.
    ///
    /// - Throws: `ServiceError` with `keyUnreadable` or `keyInvalid`.
    func read() throws(ServiceError) -> ServiceAccount {
        switch source {
        case .file(let path): try ServiceAccountFile(path: path).account()
        case .json(let bytes): try ServiceAccount(json: bytes)
        }
    }

    /// Makes the source of its access tokens.
    ///
    /// - Throws: `ServiceError` as `read`, and with `systemFailed` if there is no thread.
    func makeTokenSource(
        _ endpoint: TokenEndpoint, ended: @escaping @Sendable (AccessTokenOutcome) -> Void
    ) throws(ServiceError) -> AccessTokenSource {
        switch source {
        case .file(let path):
            try AccessTokenSource(
                file: ServiceAccountFile(path: path, caFile: endpoint.caFile, proxy: endpoint.proxy),
                ended: ended)
        case .json:
            try AccessTokenSource(account: try read(), endpoint: endpoint, ended: ended)
        }
    }
}
