import HTTPServer

/// The responses of the Cognito dialect.
enum CognitoResponse {
    /// A response with a JSON body and an identifier of its own, as Amazon's clients show it.
    static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse.content(status, type: "application/json", body)
        response.fields.append(HTTPField("x-amzn-RequestId", RandomIdentifier.uuid()))
        return response
    }
}
