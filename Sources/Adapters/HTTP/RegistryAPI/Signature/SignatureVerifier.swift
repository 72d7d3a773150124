import Crypto
import Essentials
import HTTPServer

/// Verifies that a request was signed with the secret of an access key (Signature Version 4).
///
/// The header form is accepted, with the body signed. The region is the client's own business. `X-Amz-Security-Token`
/// is signed, but not evaluated: the keys are configured here.
struct SignatureVerifier: Sendable {
    /// How far the time of a request may be from ours, in seconds, either way.
    static let skewSecondsMaximum: Int64 = 300

    /// The service that a request has to be signed for.
    let service: String
    private let keys: [ByteText: AccessKey]
    /// Signs in place of unknown keys, so that the answer takes as long.
    private let decoy: AccessKey

    /// Takes the keys.
    init(service: String, keys: [AccessKey]) {
        self.service = service
        self.keys = Dictionary(keys.map { (ByteText($0.identifier), $0) }) { first, _ in first }
        decoy = AccessKey(identifier: "", secret: "no request is signed with this")
    }

    /// Whether the key that a request names exists; the request is not authenticated yet.
    ///
    /// - Throws: `SignatureRefusal` if the request shows none.
    func hasKey(of request: HTTPRequest) throws(SignatureRefusal) -> Bool {
        keys[ByteText(try header(of: request).keyIdentifier)] != nil
    }

    private func header(of request: HTTPRequest) throws(SignatureRefusal) -> SignatureHeader {
        let fields = request.fields.filter { $0.name == "authorization" }
        guard let field = fields.first else { throw SignatureRefusal(.missing, "Missing Authentication Token") }
        guard fields.count == 1 else { throw SignatureRefusal(.incomplete, "There is more than one Authorization.") }
        return try SignatureHeader(field.value)
    }

    /// Finds out who signed a request.
    ///
    /// - Parameters:
    ///   - request: the received request.
    ///   - nowSeconds: the time, in seconds since 1970.
    /// - Returns: the key that it was signed with.
    /// - Throws: `SignatureRefusal`.
    func verify(_ request: HTTPRequest, nowSeconds: Int64) throws(SignatureRefusal) -> AccessKey {
        let header = try header(of: request)
        let date = try date(of: request, header)
        try checkSignedFields(of: request, header)
        let digest = SHA256Digest.digest(request.body)
        try checkBodyDigest(of: request, digest)
        let key = keys[ByteText(header.keyIdentifier)]
        guard
            let canonical = CanonicalRequest.text(
                of: request, fieldNames: header.signedFieldNames, bodyDigest: HexadecimalDigits.text(digest))
        else { throw SignatureRefusal(.incomplete, "A header that is among SignedHeaders is not in the request.") }
        let expected = Self.signature(
            canonical, date: date, scope: header, secret: (key ?? decoy).secret)
        let isRight = MessageAuthentication.isEqual(Array(expected.utf8), Array(header.signature.utf8))
        guard let key else {
            throw SignatureRefusal(.unknownKey, "The security token included in the request is invalid.")
        }
        guard isRight else {
            throw SignatureRefusal(
                .invalid,
                "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
                    + "Access Key and signing method. Consult the service documentation for details.")
        }
        // Checked only now, so that only holders of the secret learn the server's time.
        try checkTime(date, nowSeconds: nowSeconds)
        return key
    }

    private func date(of request: HTTPRequest, _ header: SignatureHeader) throws(SignatureRefusal) -> AmazonDate {
        guard let date = request.field("x-amz-date").flatMap({ AmazonDate($0) }) else {
            throw SignatureRefusal(.incomplete, "X-Amz-Date must be there once, as YYYYMMDD'T'HHMMSS'Z'.")
        }
        guard header.day == date.day else {
            throw SignatureRefusal(.invalid, "Date in Credential scope does not match YYYYMMDD from ISO-8601 version.")
        }
        guard header.service == service else {
            throw SignatureRefusal(.invalid, "Credential should be scoped to correct service: '\(service)'.")
        }
        return date
    }

    /// All parts that a proxy or an attacker could add to change the meaning of a request have to be signed.
    private func checkSignedFields(of request: HTTPRequest, _ header: SignatureHeader) throws(SignatureRefusal) {
        let names = Set(header.signedFieldNames)
        let needed = ["host"] + request.fields.map(\.name).filter { $0.hasPrefix("x-amz-") }
        for name in needed where !names.contains(name) {
            throw SignatureRefusal(.invalid, "'\(name)' must be a 'SignedHeader' in the AWS Authorization.")
        }
    }

    private func checkBodyDigest(of request: HTTPRequest, _ digest: [UInt8]) throws(SignatureRefusal) {
        guard request.fields.contains(where: { $0.name == "x-amz-content-sha256" }) else { return }
        guard request.field("x-amz-content-sha256") == HexadecimalDigits.text(digest) else {
            throw SignatureRefusal(.invalid, "X-Amz-Content-Sha256 is not the digest of the body.")
        }
    }

    private func checkTime(_ date: AmazonDate, nowSeconds: Int64) throws(SignatureRefusal) {
        let now = AmazonDate.text(seconds: nowSeconds)
        if date.seconds < nowSeconds - Self.skewSecondsMaximum {
            let earliest = AmazonDate.text(seconds: nowSeconds - Self.skewSecondsMaximum)
            throw SignatureRefusal(
                .invalid, "Signature expired: \(date.text) is now earlier than \(earliest) (\(now) - 5 min.)")
        }
        if date.seconds > nowSeconds + Self.skewSecondsMaximum {
            let latest = AmazonDate.text(seconds: nowSeconds + Self.skewSecondsMaximum)
            throw SignatureRefusal(
                .invalid, "Signature not yet current: \(date.text) is still later than \(latest) (\(now) + 5 min.)")
        }
    }

    private static func signature(
        _ canonicalRequest: String, date: AmazonDate, scope: SignatureHeader, secret: String
    ) -> String {
        let digest = HexadecimalDigits.text(SHA256Digest.digest(Array(canonicalRequest.utf8)))
        let text = "\(SignatureHeader.algorithm)\n\(date.text)\n\(scope.scope)\n\(digest)"
        var key = Array("AWS4\(secret)".utf8)
        for part in [scope.day, scope.region, scope.service, SignatureHeader.terminator] {
            key = MessageAuthentication.code(of: Array(part.utf8), key: key)
        }
        return HexadecimalDigits.text(MessageAuthentication.code(of: Array(text.utf8), key: key))
    }
}

/// A pair of identifier and secret with which requests are signed, and its permissions.
///
/// Any accidental print of a key shows its identifier only.
public struct AccessKey: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The identifier, which travels with each request.
    public let identifier: String
    /// The only identity pools that the key may be used for; empty for all.
    public let identityPoolIDs: [String]
    /// The secret for signatures.
    let secret: String

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - identifier: the public part, which each request bears.
    ///   - secret: the secret part, which only the client and the server know.
    ///   - identityPoolIDs: the only pools that it may be used for; empty for all.
    public init(identifier: String, secret: String, identityPoolIDs: [String] = []) {
        self.identifier = identifier
        self.secret = secret
        self.identityPoolIDs = identityPoolIDs
    }

    /// The identifier.
    public var description: String { "access key \(identifier)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Whether the key may be used for a pool.
    func opens(_ identityPoolID: String) -> Bool {
        identityPoolIDs.isEmpty || identityPoolIDs.contains(identityPoolID)
    }
}
