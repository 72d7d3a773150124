public import Backoffice
import EventLoop
public import HTTPClient

/// Tries an endpoint once, without a queue: for commands.
public enum WebhookTrial {
    /// Posts one outcome, signed as all are.
    ///
    /// - Parameters:
    ///   - payload: the outcome.
    ///   - endpoint: where to.
    ///   - userAgent: the program and its version.
    /// - Returns: the answer, or why there is none.
    /// - Throws: `EventLoopError` or `HTTPClient.Failure` if there is no thread or no libcurl.
    public static func post(
        _ payload: WebhookPayload, to endpoint: WebhookEndpoint, userAgent: String
    ) async throws -> PostOutcome {
        try await withClient(of: endpoint) { client, ended in
            let nowSeconds = WallClock.nowMilliseconds() / 1_000
            client.post(endpoint.request(payload, nowSeconds: nowSeconds, userAgent: userAgent), ended: ended)
        }
    }

    /// Connects to an endpoint, and sends nothing.
    ///
    /// - Parameter endpoint: where to.
    /// - Returns: why it cannot be connected to; nil if it can.
    /// - Throws: as `post`.
    public static func probe(_ endpoint: WebhookEndpoint) async throws -> PostFailure? {
        try await withClient(of: endpoint) { client, ended in
            client.probe(
                endpoint.address.destination, timeoutNanoseconds: endpoint.timeoutNanoseconds, ended: ended)
        }
    }

    private static func withClient<Outcome: Sendable>(
        of endpoint: WebhookEndpoint,
        _ use: @escaping @Sendable (HTTPMultiClient, @escaping (Outcome) -> Void) -> Void
    ) async throws -> Outcome {
        let loop = try EventLoop(name: "webhook-trial")
        defer { loop.stopAndJoin() }
        let client = LoopBound(try endpoint.makeClient(on: loop), to: loop)
        let outcome = await withCheckedContinuation { continuation in
            loop.submit { use(client.value) { continuation.resume(returning: $0) } }
        }
        try await loop.run { client.value.close() }
        return outcome
    }
}
