import ADMTransport
import APNsTransport
import EventLoop
import FCMTransport
import Metrics
import Notifications
import ServiceClient
import StructuredLogging
import WebPushTransport
import WorkerConfiguration

/// The clients of the push services that the apps use, joined to one transport.
struct PushClients: Sendable {
    /// Sends the pushes of all apps; `TransportRoutes` numbers its routes.
    let transport: TransportSwitch
    /// The loops that carry the pushes of a service, one each.
    let loops: [EventLoop]
    private let clients: [(service: PushService, client: ServiceClient)]
    /// The routes to APNs.
    let apnsRoutes: [APNsRoute]
    private let stopAccessTokens: @Sendable () -> Void

    /// Prepares the clients; they connect when the transport is started.
    ///
    /// - Parameters:
    ///   - configuration: checked before.
    ///   - apns: the client for APNs.
    ///   - webPush: the client for browsers; nil if no app pushes to them.
    ///   - courier: where the pushes of clients go that fetch their notifications.
    ///   - logger: where connections that come and go are logged.
    ///   - metrics: where the instruments are made.
    /// - Throws: `ServiceError` if a key, a service account or an endpoint is wrong, or there is no thread.
    init(
        _ configuration: Configuration, apns: APNsClientConfiguration, webPush: WebPushServiceConfiguration?,
        courier: CourierTransport, logger: Logger,
        metrics: MetricsRegistry
    ) throws(ServiceError) {
        let routes = TransportRoutes(configuration.apps)
        apnsRoutes = apns.routes
        let fcm = try configuration.fcmRoutes(logger: logger, metrics: metrics)
        let adm = try configuration.admRoutes(logger: logger, metrics: metrics)
        stopAccessTokens = { [fcm = fcm.tokens, adm = adm.tokens] in
            fcm.stop()
            adm.stop()
        }
        var clients: [(service: PushService, client: ServiceClient)] = []
        var members = [TransportSwitch.Member(routes: routes[.courier], transport: courier)]
        if !apns.routes.isEmpty {
            let client = try APNsClient(configuration: apns, logger: logger, metrics: metrics)
            clients.append((.apns, client))
            members.append(TransportSwitch.Member(routes: routes[.apns], transport: client))
        }
        if !fcm.routes.isEmpty {
            let client = try ServiceClient(
                routes: fcm.routes, loopName: "fcm", logger: logger, metrics: metrics)
            clients.append((.fcm, client))
            members.append(TransportSwitch.Member(routes: routes[.fcm], transport: client))
        }
        if let webPush {
            let client = try WebPushServiceClient(configuration: webPush, logger: logger, metrics: metrics)
            clients.append((.webPush, client.client))
            members.append(TransportSwitch.Member(routes: routes[.webPush], transport: client))
        }
        var loops = clients.map(\.client.loop)
        if !adm.routes.isEmpty {
            let client = try HTTP1Client(routes: adm.routes, loopName: "adm", logger: logger, metrics: metrics)
            loops.append(client.loop)
            members.append(TransportSwitch.Member(routes: routes[.adm], transport: client))
        }
        self.clients = clients
        self.loops = loops
        transport = TransportSwitch(members)
    }

    /// The open HTTP/2 connections of each app to each of its push services, and its pushes that are not answered yet.
    var connections: [(app: String, service: PushService, openCount: Int, streamCount: Int)] {
        clients.flatMap { service, client in
            client.connections.map { ($0.app, service, $0.openCount, $0.streamCount) }
        }
    }

    /// Fetches no more access tokens, after the transport has been closed.
    func end() { stopAccessTokens() }
}
