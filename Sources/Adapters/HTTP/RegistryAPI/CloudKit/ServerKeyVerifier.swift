import Crypto
import Essentials
import HTTPServer

/// Verifies that a request was signed with a server-to-server key (Apple, "CloudKit Web Services Reference", "Accessing
/// CloudKit Using a Server-to-Server Key").
///
/// The signed message is `DATE:BODY:PATH`: the date of the request, the SHA-256 of the body in base64, and the path
/// without host and query. The signature is one of ECDSA on P-256 with SHA-256, in ASN.1 and base64. The query is not
/// signed, so nothing that matters is read from it.
///
/// An eavesdropper can repeat a request for ten minutes: without TLS, anybody on the way. No list of signatures is kept
/// against it, because an honest client that repeats a request within a second sends the same message.
struct ServerKeyVerifier: Sendable {
    /// How far the time of a request may be from ours, in milliseconds, either way; Apple lets requests live as long.
    static let skewMillisecondsMaximum: Int64 = 600_000

    private static let keyField = "x-apple-cloudkit-request-keyid"
    private static let dateField = "x-apple-cloudkit-request-iso8601date"
    private static let signatureField = "x-apple-cloudkit-request-signaturev1"

    private let keys: [ByteText: ServerKey]

    init(keys: [ServerKey]) {
        self.keys = Dictionary(keys.map { (ByteText($0.identifier), $0) }) { first, _ in first }
    }

    /// Whether a request has any part of a signature.
    static func isSigned(_ request: HTTPRequest) -> Bool {
        request.fields.contains { [keyField, dateField, signatureField].contains($0.name) }
    }

    /// Whether the key that a request names exists; the request is not authenticated yet.
    func hasKey(of request: HTTPRequest) -> Bool {
        request.field(Self.keyField).map { keys[ByteText($0)] != nil } ?? false
    }

    /// Finds out who signed a request; the body is not looked at before the key is known.
    ///
    /// - Parameters:
    ///   - request: the received request.
    ///   - nowMilliseconds: the time, in milliseconds since 1970.
    /// - Returns: the key that it was signed with.
    /// - Throws: `CloudKitError` with `authenticationFailed`.
    func verify(_ request: HTTPRequest, nowMilliseconds: Int64) throws(CloudKitError) -> ServerKey {
        guard let identifier = request.field(Self.keyField), let dateText = request.field(Self.dateField),
            let signatureText = request.field(Self.signatureField)
        else {
            throw Self.failure(
                "X-Apple-CloudKit-Request-KeyID, -ISO8601Date and -SignatureV1 must be there, each once.")
        }
        guard let key = keys[ByteText(identifier)] else { throw Self.failure("This key ID is unknown.") }
        guard let milliseconds = ServerKeyDate.milliseconds(dateText) else {
            throw Self.failure("X-Apple-CloudKit-Request-ISO8601Date must be YYYY-MM-DD'T'HH:MM:SS'Z'.")
        }
        guard abs(milliseconds - nowMilliseconds) <= Self.skewMillisecondsMaximum else {
            throw Self.failure("X-Apple-CloudKit-Request-ISO8601Date is more than ten minutes from now.")
        }
        guard let signature = Base64.decodeStrictly(signatureText), (8...72).contains(signature.count) else {
            throw Self.failure("X-Apple-CloudKit-Request-SignatureV1 must be base64 of a signature in ASN.1.")
        }
        let digests = [Base64.encode(SHA256Digest.digest(request.body))] + (request.body.isEmpty ? [""] : [])
        // Some clients sign nothing, and others the digest of nothing, where there is no body.
        let isRight = digests.contains { digest in
            let message = Array("\(dateText):\(digest):\(request.target.rawPath)".utf8)
            return key.publicKey.isValid(signatureInDER: signature, of: message)
        }
        guard isRight else { throw Self.failure("The signature is not one of this key over this request.") }
        return key
    }

    private static func failure(_ reason: String) -> CloudKitError { CloudKitError(.authenticationFailed, reason) }
}

/// The time of a request that a server key signs: `2016-01-25T22:15:43Z`.
enum ServerKeyDate {
    /// Milliseconds since 1970; nil if the text is no such time, in UTC and without fractions of a second.
    static func milliseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":")
        else { return nil }
        // Without its separators it is a time as Amazon's clients write it.
        let digits = text.filter { $0 != "-" && $0 != ":" }
        return AmazonDate(digits).map { $0.seconds * 1_000 }
    }
}
