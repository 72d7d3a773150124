import Crypto
import Essentials
internal import JSON

/// The text of a VAPID key, in any of the forms that `VAPIDSigningKey` reads.
struct VAPIDKeyText {
    /// The private half.
    enum PrivateHalf {
        /// PEM text.
        case pem([UInt8])
        /// The scalar of 32 bytes.
        case scalar([UInt8])
    }

    private static let scalarBytes = 32
    private static let expectation =
        "give PEM text, or the private key of \(scalarBytes) bytes in base64url (43 characters)"
    /// The least bytes of a private key in DER.
    private static let derBytesMinimum = 60

    let privateHalf: PrivateHalf
    /// The public half in base64url, if the text has it as well.
    let publicHalf: String?

    init(_ bytes: [UInt8]) throws(VAPIDError) {
        let text = Self.trimmed(String(decoding: bytes, as: UTF8.self))
        guard !text.isEmpty else { throw VAPIDError(.keyInvalid, "the VAPID key is empty; \(Self.expectation)") }
        if text.contains("-----BEGIN") {
            (privateHalf, publicHalf) = (.pem(bytes), nil)
        } else if text.hasPrefix("{") {
            let pair = try Self.pair(inJSON: text)
            (privateHalf, publicHalf) = (try Self.privateHalf(pair.privateKey), pair.publicKey.map(Self.digits))
        } else if let privateKey = Self.line(after: "Private Key:", in: text) {
            let publicKey = Self.line(after: "Public Key:", in: text)
            (privateHalf, publicHalf) = (try Self.privateHalf(privateKey), publicKey.map(Self.digits))
        } else {
            (privateHalf, publicHalf) = (try Self.privateHalf(text), nil)
        }
    }

    private static func pair(inJSON text: String) throws(VAPIDError) -> (publicKey: String?, privateKey: String) {
        let parser = JSONParser(depthMaximum: 4, bytesMaximum: 65_536)
        do throws(JSONError) {
            let value = try parser.parse(text)
            // `d` is the private half in a JSON Web Key (RFC 7518 section 6.2.2.1).
            if let key = value["privateKey"]?.string ?? value["d"]?.string {
                return (value["publicKey"]?.string, key)
            }
        } catch {
            throw VAPIDError(.keyInvalid, "the VAPID key is not JSON: \(error); \(expectation)")
        }
        throw VAPIDError(.keyInvalid, "the VAPID key is JSON without the text \"privateKey\"; \(expectation)")
    }

    /// The next line that is not empty.
    private static func line(after title: String, in text: String) -> String? {
        guard let end = text.firstRange(of: title)?.upperBound else { return nil }
        return text[end...].split(whereSeparator: \.isNewline).lazy.map { trimmed(String($0)) }.first { !$0.isEmpty }
    }

    private static func privateHalf(_ text: String) throws(VAPIDError) -> PrivateHalf {
        let digits = digits(text)
        guard !digits.isEmpty else { throw VAPIDError(.keyInvalid, "the VAPID key is empty; \(Self.expectation)") }
        guard let decoded = Base64URL.decode(digits) else {
            throw VAPIDError(.keyInvalid, "the VAPID key is neither PEM text nor base64url; \(expectation)")
        }
        if decoded.count == scalarBytes { return .scalar(decoded) }
        // PEM without its first and last line, or in base64 once more.
        if decoded.count >= derBytesMinimum, decoded[0] == 0x30 || decoded[0] == UInt8(ascii: "-") {
            return .pem(Array(text.utf8))
        }
        let isPublic = decoded.count == P256KeyPair.publicPointBytes && decoded[0] == 4
        throw VAPIDError(
            .keyInvalid,
            "the VAPID key has \(decoded.count) bytes\(isPublic ? ", as a public key has" : ""); \(expectation)")
    }

    /// Base64 of either alphabet as base64url without padding.
    private static func digits(_ text: String) -> String {
        var digits = text.filter { !$0.isWhitespace }.replacing("+", with: "-").replacing("/", with: "_")
        while digits.hasSuffix("=") { digits.removeLast() }
        return digits
    }

    private static func trimmed(_ text: String) -> String {
        func isMargin(_ scalar: Unicode.Scalar) -> Bool {
            scalar == "\"" || scalar == "'" || scalar == "\u{feff}" || scalar.properties.isWhitespace
        }
        let start = text.unicodeScalars.drop(while: isMargin)
        return String(
            Substring(start).unicodeScalars.reversed().drop(while: isMargin).reversed().reduce(into: "") {
                $0.unicodeScalars.append($1)
            })
    }
}
