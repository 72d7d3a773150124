import HTTPServer

/// The answers to clients that fetch their notifications.
enum CourierAnswer {
    /// There is no such device, or no longer: its client asks for another token.
    static let unknown = HTTPResponse.text(404, "there is no such client; ask for a new token")

    /// Nothing came.
    static let nothing = HTTPResponse(status: 204)

    /// A notification.
    static func payload(_ bytes: [UInt8]) -> HTTPResponse {
        .content(200, type: "application/json", bytes)
    }

    /// It came too often.
    static func tooMany(retryAfterSeconds seconds: Int) -> HTTPResponse {
        var response = HTTPResponse.text(429, "too many requests")
        response.fields.append(HTTPField("Retry-After", "\(seconds)"))
        return response
    }

    /// It cannot be answered now.
    static func busy(_ message: String) -> HTTPResponse {
        var response = HTTPResponse.text(503, message)
        response.fields.append(HTTPField("Retry-After", "1"))
        return response
    }
}
