/// Tries whether an endpoint can be used, without sending a push: name, TCP, TLS, HTTP/2, first SETTINGS.
public enum ServiceProbe {
    /// The findings about a usable endpoint.
    public struct Report: Sendable {
        /// The address that answered.
        public let address: String
        /// How many streams it allows on one connection before it has seen an authorization.
        public let streamsMaximum: Int
    }

    /// Connects to the endpoint of a route, through its proxy if it has one, and closes the connection when the peer's
    /// SETTINGS have arrived.
    ///
    /// That the authorization is accepted is not tried: push services say so only in answer to a push.
    ///
    /// - Parameter route: the route.
    /// - Returns: the findings about the endpoint.
    /// - Throws: `ServiceError` with `routeInvalid` (the trust anchor cannot be read), `systemFailed` (no thread) or
    ///   `connectFailed`: what failed at which address, and what to do.
    public static func check(_ route: ServiceRoute) async throws(ServiceError) -> Report {
        do throws(EndpointExchange.Failure) {
            let report = try await EndpointExchange.attempt(route, nil, timeoutSeconds: 10)
            return Report(address: report.address, streamsMaximum: report.streamsMaximum)
        } catch {
            switch error {
            case .notSent(let error): throw error
            case .ambiguous(let reason): throw ServiceError(.connectFailed, reason)
            }
        }
    }
}
