import Essentials
import WorkerConfiguration

/// Removes what must not leave the machine from texts: a second barrier, because nothing that is collected should have
/// any of it.
struct Redaction: Sendable {
    /// A shorter text would also be found where it means something else, and is no secret worth the name.
    private static let secretBytesMinimum = 4
    /// The fewest hexadecimal digits in a row that are taken for a device token, and how many of them stay.
    private static let tokenDigitsMinimum = 32
    private static let tokenDigitsShown = 8

    private let secrets: [String]

    /// Creates a redaction of these secrets and of whole device tokens.
    init(secrets: [String]) {
        // The longest first: a URL holds the password.
        self.secrets = Set(secrets).filter { $0.utf8.count >= Self.secretBytesMinimum }.sorted {
            ($1.utf8.count, $1) < ($0.utf8.count, $0)
        }
    }

    /// The text without secrets and whole tokens.
    func redacted(_ text: String) -> String {
        Self.withoutTokens(secrets.reduce(text) { $0.replacing($1, with: Secret.placeholder) })
    }

    private static func withoutTokens(_ text: String) -> String {
        var bytes: [UInt8] = []
        var run: [UInt8] = []
        func end() {
            let isToken = run.count >= tokenDigitsMinimum
            bytes += isToken ? Array(run.prefix(tokenDigitsShown)) + Array("…".utf8) : run
            run.removeAll(keepingCapacity: true)
        }
        for byte in text.utf8 {
            if HexadecimalDigits.value(of: byte) != nil {
                run.append(byte)
            } else {
                end()
                bytes.append(byte)
            }
        }
        end()
        return String(decoding: bytes, as: UTF8.self)
    }
}
