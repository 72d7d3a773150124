internal import Crypto
internal import EventLoop
internal import HTTP2

/// Tries whether an endpoint can be used, without sending a push: name, TCP, TLS, HTTP/2, first SETTINGS.
public enum APNsProbe {
    /// What an endpoint that can be used says of itself.
    public struct Report: Sendable {
        /// The address that answered.
        public let address: String
        /// How many streams it allows on one connection before it has seen a provider token.
        public let streamsMaximum: Int
    }

    /// Connects to the endpoint of a route, through its proxy if it has one, and closes the connection when the peer's
    /// SETTINGS have arrived.
    ///
    /// That the provider token is accepted is not tried: APNs says so only in answer to a push.
    ///
    /// - Parameter route: the route.
    /// - Returns: what answered.
    /// - Throws: `APNsError` with `routeInvalid` (the trust anchor cannot be read), `systemFailed` (no thread) or
    ///   `connectFailed`: what failed at which address, and what to do.
    public static func check(_ route: APNsRoute) async throws(APNsError) -> Report {
        let context = try route.makeContext()
        let loop: EventLoop
        do throws(EventLoopError) {
            loop = try EventLoop(name: "apns-probe")
        } catch {
            throw APNsError(.systemFailed, "the probe cannot have a thread of its own: \(error)")
        }
        defer { loop.stopAndJoin() }
        let result = await withCheckedContinuation { continuation in
            let (host, port) = route.nextHop
            AddressResolver.resolve(host: host, port: port) { answer in
                loop.submit {
                    switch answer {
                    case .success(let addresses):
                        ProbeAttempt(route: route, context: context, loop: loop) { continuation.resume(returning: $0) }
                            .connect(to: addresses)
                    case .failure(let error):
                        let hint = ConnectionHint.resolution(isOfProxy: route.proxy != nil)
                        continuation.resume(
                            returning: .failure(APNsError(error.code, "\(error.message); \(hint)")))
                    }
                }
            }
        }
        return try result.get()
    }
}
