internal import ConnectionPool
internal import EventLoop
import Notifications
internal import ServiceClient

/// The ways to the origins: a route over HTTP/2 for each, and one over HTTP/1.1 for those that turn out to need it.
///
/// Lives on the loop of the client for HTTP/2. An origin is known by its place in the `OriginTable`.
final class OriginRoutes {
    private struct Ways {
        let origin: WebPushOrigin
        let app: Int
        var terms: OriginTerms
        let http2: Int
        var http1: Int?
    }

    /// How many requests over HTTP/1.1 may be under way to one origin, each with a connection of its own.
    private static let http1RequestsMaximum = (known: 16, unknown: 2)

    private let configuration: WebPushServiceConfiguration
    private let http2: ServiceClient
    private let http1: HTTP1Client
    private var ways: [Int: Ways] = [:]
    private var placeOfHTTP2Route: [Int: Int] = [:]
    private var placeOfHTTP1Route: [Int: Int] = [:]
    private var http1RouteCount = 0

    init(configuration: WebPushServiceConfiguration, http2: ServiceClient, http1: HTTP1Client) {
        self.configuration = configuration
        self.http2 = http2
        self.http1 = http1
    }

    /// Whether there is no origin.
    var isEmpty: Bool { ways.isEmpty }

    /// Makes the way to an origin over HTTP/2.
    ///
    /// - Parameters:
    ///   - origin: the origin.
    ///   - app: the index of the app.
    ///   - terms: its limits.
    ///   - place: its place.
    ///   - http2Missing: called on the loop when it did not negotiate HTTP/2.
    /// - Throws: `ServiceError` if the trust anchors cannot be read.
    func open(
        _ origin: WebPushOrigin, app: Int, _ terms: OriginTerms, place: Int,
        http2Missing: @escaping @Sendable () -> Void
    ) throws(ServiceError) {
        let host = origin.host
        var route = ServiceRoute(
            service: .webPush, app: configuration.apps[app].name, name: origin.audience.origin,
            endpoint: ServiceEndpoint(host: host, port: origin.port),
            extraTrustAnchorsFile: configuration.extraTrustAnchorsFile, authorizer: authorizer(origin, app),
            limits: poolLimits(terms), proxy: configuration.proxy
        ) { authority in
            WebPushAdapter(authority: authority, host: host) { WallClock.nowMilliseconds() / 1_000 }
        }
        route.admitsAddress = configuration.admission(toHost: host, port: origin.port)
        route.http2Missing = http2Missing
        if !terms.isKnown, !terms.hasFullTime { route.lookUpGroup = route.app }
        let number = try http2.addRoute(route)
        placeOfHTTP2Route[number] = place
        ways[place] = Ways(origin: origin, app: app, terms: terms, http2: number)
    }

    /// Gives an origin that has accepted a push as much time as any.
    func prove(_ place: Int) {
        guard let terms = ways[place]?.terms, !terms.hasFullTime else { return }
        ways[place]?.terms.hasFullTime = true
        let deadline = poolLimits(OriginTerms(isKnown: terms.isKnown, hasFullTime: true)).deadlineNanoseconds
        if let route = ways[place]?.http2 { http2.changeDeadline(ofRoute: route, toNanoseconds: deadline) }
        if let route = ways[place]?.http1 { http1.changeDeadline(ofRoute: route, toNanoseconds: deadline) }
    }

    /// Removes the ways to an origin, which has no push out.
    func close(_ place: Int) {
        guard let closed = ways.removeValue(forKey: place) else { return }
        placeOfHTTP2Route[closed.http2] = nil
        http2.removeRoute(closed.http2)
        guard let route = closed.http1 else { return }
        placeOfHTTP1Route[route] = nil
        http1.removeRoute(route)
    }

    /// The number of the route over HTTP/2; nil if there is no such origin.
    func http2Route(to place: Int) -> Int? { ways[place]?.http2 }

    /// The number of the route over HTTP/1.1, which is made for the first push; nil if there is no such origin.
    func http1Route(to place: Int) -> Int? {
        guard let way = ways[place] else { return nil }
        if let route = way.http1 { return route }
        let host = way.origin.host
        let pool = poolLimits(way.terms)
        var limits = HTTP1Limits()
        limits.concurrentRequestsMaximum =
            way.terms.isKnown ? Self.http1RequestsMaximum.known : Self.http1RequestsMaximum.unknown
        limits.outstandingMaximum = pool.outstandingMaximum
        limits.deadlineNanoseconds = pool.deadlineNanoseconds
        let number = http1RouteCount
        http1RouteCount += 1
        let route = HTTP1Route(
            service: .webPush, app: configuration.apps[way.app].name, name: way.origin.audience.origin,
            endpoint: ServiceEndpoint(host: host, port: way.origin.port),
            extraTrustAnchorsFile: configuration.extraTrustAnchorsFile, authorizer: authorizer(way.origin, way.app),
            limits: limits, proxy: configuration.proxy,
            admitsAddress: configuration.admission(toHost: host, port: way.origin.port)
        ) { WebPushHTTP1Adapter(host: host) }
        http1.addRoute(route, number: number)
        ways[place]?.http1 = number
        placeOfHTTP1Route[number] = place
        return number
    }

    /// The place of the origin of a route; nil if it is gone.
    func place(ofRoute route: Int, isHTTP1: Bool) -> Int? {
        isHTTP1 ? placeOfHTTP1Route[route] : placeOfHTTP2Route[route]
    }

    private func poolLimits(_ terms: OriginTerms) -> PoolLimits {
        var limits = terms.isKnown ? configuration.knownLimits : configuration.unknownLimits
        if !terms.hasFullTime {
            limits.deadlineNanoseconds = min(limits.deadlineNanoseconds, configuration.unprovenDeadlineNanoseconds)
        }
        return limits
    }

    private func authorizer(_ origin: WebPushOrigin, _ app: Int) -> VAPIDAuthorizer {
        VAPIDAuthorizer(source: configuration.apps[app].tokens, audience: origin.audience)
    }
}

/// The limits that an origin has.
struct OriginTerms {
    /// Whether it has those of known origins.
    var isKnown: Bool
    /// Whether it has as much time as any: it is named, or has accepted a push.
    var hasFullTime: Bool
}
