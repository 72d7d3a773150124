public import Backoffice
internal import EventLoop
public import HTTPClient

/// The backend of an app that outcomes are posted to.
public struct WebhookEndpoint: Sendable {
    /// The app.
    public var app: String
    /// Where the requests go; its destination says which addresses may be connected to.
    public var address: PostAddress
    /// The secrets that each request is signed with: at least one to post, several while they are changed.
    public var secrets: [WebhookSecret]
    /// How long one request may take, in nanoseconds.
    public var timeoutNanoseconds: UInt64
    /// How many requests may be under way at once.
    public var requestsMaximum: Int
    /// When outcomes are posted again.
    public var retries: WebhookRetries

    /// Describes an endpoint.
    public init(
        app: String, address: PostAddress, secrets: [WebhookSecret], timeoutNanoseconds: UInt64 = 15_000_000_000,
        requestsMaximum: Int = 8, retries: WebhookRetries = WebhookRetries()
    ) {
        self.app = app
        self.address = address
        self.secrets = secrets
        self.timeoutNanoseconds = timeoutNanoseconds
        self.requestsMaximum = requestsMaximum
        self.retries = retries
    }

    /// A signed request (Standard Webhooks 1.0.0, "Webhook Headers").
    ///
    /// - Parameters:
    ///   - payload: the payload to post.
    ///   - nowSeconds: the time of the attempt, in seconds since 1970.
    ///   - userAgent: the program and its version, as the backend may log them.
    /// - Returns: the request.
    func request(_ payload: WebhookPayload, nowSeconds: Int64, userAgent: String) -> PostRequest {
        let signatures = secrets.map {
            $0.signature(identifier: payload.identifier, timestampSeconds: nowSeconds, body: payload.body)
        }
        return PostRequest(
            to: address.destination, path: address.path,
            fields: [
                ("content-type", "application/json"), ("user-agent", userAgent),
                ("webhook-id", payload.identifier), ("webhook-timestamp", "\(nowSeconds)"),
                ("webhook-signature", signatures.joined(separator: " ")),
            ],
            body: payload.body, timeoutNanoseconds: timeoutNanoseconds)
    }

    /// A client for the requests to this endpoint alone.
    ///
    /// A connection of another endpoint, which may reach other addresses, is not used for it.
    func makeClient(on loop: EventLoop) throws(HTTPClient.Failure) -> HTTPMultiClient {
        var limits = HTTPMultiClient.Limits()
        limits.connectionsPerHostMaximum = requestsMaximum
        limits.connectionsMaximum = requestsMaximum
        return try HTTPMultiClient(loop: loop, limits: limits)
    }
}
