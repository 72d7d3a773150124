internal import EventLoop
internal import Notifications
public import ServiceClient
internal import Synchronization

/// Tries what pushes to browsers need, without sending one.
public enum WebPushProbe {
    /// The findings about a push service that can be used.
    public struct Report: Sendable {
        /// The address that answered; nil if the service offers no HTTP/2, and is sent to over HTTP/1.1.
        public let http2Address: String?
    }

    /// Whether the service did not negotiate HTTP/2; set on the loop of the attempt.
    private final class Finding: Sendable {
        let lacksHTTP2 = Atomic(false)
    }

    /// Signs a token, as it is made for a push.
    ///
    /// - Parameter app: the app, with its key and its subject.
    /// - Throws: `ServiceError` with `keyInvalid` if the key does not sign.
    public static func sign(for app: WebPushServiceConfiguration.App) throws(ServiceError) {
        do {
            let audience = try VAPIDAudience(endpoint: "https://push.example.com")
            _ = try app.tokens.token(for: audience, at: VAPIDAuthorizer.systemClock())
        } catch {
            throw ServiceError(.keyInvalid, "the key does not sign: \(error)")
        }
    }

    /// Connects to a push service as a push would, through the proxy if there is one, and closes the connection.
    ///
    /// - Parameters:
    ///   - endpoint: the host and port.
    ///   - configuration: the client's, with at least one app.
    /// - Returns: the findings about the service.
    /// - Throws: `ServiceError` as `ServiceProbe.check`, also if no address of the name may be connected to.
    public static func check(
        _ endpoint: ServiceEndpoint, _ configuration: WebPushServiceConfiguration
    ) async throws(ServiceError) -> Report {
        let audience: VAPIDAudience
        do throws(VAPIDError) {
            audience = try VAPIDAudience(endpoint: "https://\(endpoint)")
        } catch {
            throw ServiceError(.routeInvalid, error.message)
        }
        guard let app = configuration.apps.first else {
            throw ServiceError(.routeInvalid, "no app pushes to browsers")
        }
        var route = ServiceRoute(
            service: .webPush, app: app.name, name: audience.origin, endpoint: endpoint,
            extraTrustAnchorsFile: configuration.extraTrustAnchorsFile,
            authorizer: VAPIDAuthorizer(source: app.tokens, audience: audience), proxy: configuration.proxy
        ) { authority in
            WebPushAdapter(authority: authority, host: endpoint.host) { WallClock.nowMilliseconds() / 1_000 }
        }
        route.admitsAddress = configuration.admission(toHost: endpoint.host, port: endpoint.port)
        let finding = Finding()
        route.http2Missing = { finding.lacksHTTP2.store(true, ordering: .releasing) }
        do throws(ServiceError) {
            return Report(http2Address: try await ServiceProbe.check(route).address)
        } catch {
            guard finding.lacksHTTP2.load(ordering: .acquiring) else { throw error }
            return Report(http2Address: nil)
        }
    }
}
