import HTTPServer

/// Refuses requests that a page of another site makes its visitor's browser send (CSRF).
///
/// The order is that of Go 1.25 (`net/http`, `CrossOriginProtection`), which needs no token:
///
/// | request | decision |
/// |---|---|
/// | GET, HEAD or OPTIONS, which change nothing | allowed |
/// | `Origin` is in the configured list | allowed |
/// | `Sec-Fetch-Site` is `same-origin` or `none` | allowed |
/// | `Sec-Fetch-Site` is anything else | refused |
/// | neither `Sec-Fetch-Site` nor `Origin`: no browser | allowed |
/// | `Origin` has the host and the port of `Host` | allowed |
/// | anything else | refused |
///
/// Browsers send `Sec-Fetch-Site` only to https and to this machine; on plain http the last rows decide.
struct CrossOriginRule: Sendable {
    private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS"]

    /// The origins that are allowed besides the page's own, for example `https://ops.example.com`.
    let allowedOrigins: Set<String>

    /// Whether a request may go on.
    func allows(_ request: HTTPRequest) -> Bool {
        if Self.safeMethods.contains(request.method) { return true }
        let origins = request.fields.filter { $0.name == "origin" }.map(\.value)
        if origins.count == 1, allowedOrigins.contains(origins[0]) { return true }
        let sites = request.fields.filter { $0.name == "sec-fetch-site" }.map(\.value)
        guard sites.isEmpty else { return sites == ["same-origin"] || sites == ["none"] }
        if origins.isEmpty { return true }
        guard origins.count == 1, let host = request.field("host") else { return false }
        return Self.authority(of: origins[0])?.lowercased() == host.lowercased()
    }

    /// The host and the port of an origin; nil for one that has none, such as `null`.
    private static func authority(of origin: String) -> Substring? {
        for scheme in ["https://", "http://"] where origin.hasPrefix(scheme) { return origin.dropFirst(scheme.count) }
        return nil
    }
}
