import Crypto
import HTTPServer

/// The signed parts of a request, in canonical form ("Create a canonical request", the AWS General Reference).
enum CanonicalRequest {
    /// The canonical request.
    ///
    /// - Parameters:
    ///   - request: the received request.
    ///   - fieldNames: the names of the signed header fields, sorted, in lower case.
    ///   - bodyDigest: the digest of the body in hexadecimal digits.
    /// - Returns: the text; nil if a signed field is missing.
    static func text(of request: HTTPRequest, fieldNames: [String], bodyDigest: String) -> String? {
        var text = "\(request.method)\n\(encoded(normalized(request.target.rawPath), isPath: true))\n"
        text += query(request.target.queryItems) + "\n"
        for name in fieldNames {
            let values = request.fields.filter { $0.name == name }.map { collapsed($0.value) }
            guard !values.isEmpty else { return nil }
            text += "\(name):\(values.joined(separator: ","))\n"
        }
        return text + "\n\(fieldNames.joined(separator: ";"))\n\(bodyDigest)"
    }

    /// The path without empty segments and dots, as all services but S3 sign it ("Create a canonical request"; RFC
    /// 3986, section 5.2.4).
    ///
    /// Clients send the path with them, so one signature is good for several paths. Routes must not take such segments
    /// for names of pools, identities or devices; the name of a dataset alone leads from one such path to no other.
    static func normalized(_ path: String) -> String {
        var segments: [Substring] = []
        for segment in path.split(separator: "/") where segment != "." {
            if segment == ".." { _ = segments.popLast() } else { segments.append(segment) }
        }
        let isClosed = path.utf8.last == UInt8(ascii: "/") && !segments.isEmpty
        return "/" + segments.joined(separator: "/") + (isClosed ? "/" : "")
    }

    private static func query(_ items: [HTTPQueryItem]) -> String {
        let pairs = items.map { (encoded($0.name, isPath: false), encoded($0.value, isPath: false)) }
        return pairs.sorted { $0 < $1 }.map { "\($0)=\($1)" }.joined(separator: "&")
    }

    /// Percent-encodes all but `A-Z a-z 0-9 - . _ ~`; a path, which has been encoded once by its sender, is encoded
    /// again, but for its slashes.
    static func encoded(_ text: String, isPath: Bool) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95, 126: bytes.append(byte)
            case 47 where isPath: bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Without blanks at the ends, and with one blank for several.
    private static func collapsed(_ value: String) -> String {
        value.split(separator: " ").joined(separator: " ")
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 55 + value }
}
