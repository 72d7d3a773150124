import HTTPServer

/// The answers to clients that fetch their notifications.
enum CourierAnswer {
    /// Scripts of every page may read them: who asks knows the URL, and nothing else tells who it is.
    private static let crossOrigin = HTTPField("Access-Control-Allow-Origin", "*")

    /// There is no such device, or no longer: its client asks for another token.
    static let unknown = refusal(404, "there is no such client; ask for a new token")

    /// A script may ask, with whatever header fields.
    static let preflight = HTTPResponse(
        status: 204,
        fields: [
            crossOrigin, HTTPField("Allow", "GET, OPTIONS"), HTTPField("Access-Control-Allow-Methods", "GET"),
            HTTPField("Access-Control-Allow-Headers", "*"), HTTPField("Access-Control-Max-Age", "600"),
        ])

    /// Nothing came.
    static let nothing = HTTPResponse(status: 204, fields: [crossOrigin])

    /// A notification.
    static func payload(_ bytes: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: 200, fields: [HTTPField("Content-Type", "application/json"), crossOrigin], body: bytes)
    }

    /// Something is wrong.
    static func refusal(_ status: Int, _ message: String) -> HTTPResponse {
        var response = HTTPResponse.text(status, message)
        response.fields.append(crossOrigin)
        return response
    }

    /// It came too often.
    static func tooMany(retryAfterSeconds seconds: Int) -> HTTPResponse {
        var response = refusal(429, "too many requests")
        response.fields.append(HTTPField("Retry-After", "\(seconds)"))
        return response
    }

    /// It cannot be answered now.
    static func busy(_ message: String) -> HTTPResponse {
        var response = refusal(503, message)
        response.fields.append(HTTPField("Retry-After", "1"))
        return response
    }
}
