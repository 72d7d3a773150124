import Essentials
import PushServiceSimulator

/// The header `authorization` of the scheme `vapid`, read but not believed (RFC 8292 §3, RFC 9110 §11).
struct VAPIDAuthorization {
    private static let bytesMaximum = 4_096
    private static let pointBytes = 65

    /// The JSON Web Token, the parameter `t`.
    let token: String
    /// The key, the parameter `k`, as a point of 65 bytes.
    let key: [UInt8]

    /// Reads the value of the header: the scheme in any case, and the parameters `t` and `k` in any order, each once.
    ///
    /// - Throws: `vapidMalformed`, or `vapidKeyInvalid` if `k` is no uncompressed point in base64url.
    init(_ value: String) throws(WebPushRefusal) {
        let bytes = value.utf8
        guard bytes.count <= Self.bytesMaximum, value.prefix(6).lowercased() == "vapid " else { throw .vapidMalformed }
        var parameters: [String: Substring] = [:]
        for part in value.dropFirst(6).split(separator: ",", omittingEmptySubsequences: false) {
            let (name, value) = try Self.parameter(part)
            guard parameters.updateValue(value, forKey: name) == nil else { throw .vapidMalformed }
        }
        guard let token = parameters["t"], let key = parameters["k"], !token.isEmpty else { throw .vapidMalformed }
        guard let point = Base64URL.decode(key), point.count == Self.pointBytes, point.first == 4 else {
            throw .vapidKeyInvalid
        }
        self.token = String(token)
        self.key = point
    }

    /// Reads `name=value`, whose value may be quoted, between optional white space.
    private static func parameter(_ text: Substring) throws(WebPushRefusal) -> (name: String, value: Substring) {
        let text = text.drop { $0 == " " || $0 == "\t" }
        guard let equals = text.firstIndex(of: "=") else { throw .vapidMalformed }
        var value = text[text.index(after: equals)...]
        while value.last == " " || value.last == "\t" { value.removeLast() }
        if value.count >= 2, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
        // Letters, digits, `-`, `_` and `.` can stand in a token of this kind.
        guard value.utf8.allSatisfy({ $0.isBase64URL || $0 == UInt8(ascii: ".") }) else { throw .vapidMalformed }
        return (text[..<equals].lowercased(), value)
    }
}
