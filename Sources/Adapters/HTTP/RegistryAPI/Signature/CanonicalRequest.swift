import Essentials
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
        // A path has been encoded once by its sender, and is encoded again.
        let path = PercentEncoding.encode(normalized(request.target.rawPath), keepsSlashes: true)
        var text = "\(request.method)\n\(path)\n"
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
        let pairs = items.map { (PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)) }
        return pairs.sorted { $0 < $1 }.map { "\($0)=\($1)" }.joined(separator: "&")
    }

    /// Without blanks at the ends, and with one blank for several.
    private static func collapsed(_ value: String) -> String {
        value.split(separator: " ").joined(separator: " ")
    }
}
