import ChangeEvents
import DispatchCore
import Essentials
import Messages
import Notifications
import PushTestKit
import RegistryCore

/// Values for tests, each the simplest of its kind.
enum Samples {
    static let app = AppRoute(
        index: 0, name: "chat", bundleID: "com.example.chat", productionRoute: 0, sandboxRoute: 1, courierRoute: 4)
    static let mail = AppRoute(
        index: 1, name: "mail", bundleID: "com.example.mail", productionRoute: 2, sandboxRoute: 3, courierRoute: 5)
    static let content = content(.alert)

    /// When both clocks show so many milliseconds.
    static func moment(_ milliseconds: Int64) -> Moment {
        Moment(wall: WallTime(milliseconds: milliseconds), monotonic: monotonic(milliseconds))
    }

    /// When the monotonic clock shows so many milliseconds.
    static func monotonic(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: UInt64(milliseconds) * 1_000_000)
    }

    static func content(_ pushType: PushType) -> PushContent {
        PushContent(
            payload: Array("{}".utf8), topic: "com.example.chat" + pushType.tokenKind.topicSuffix, pushType: pushType,
            priority: .immediate, expirationSeconds: nil, collapseID: nil)
    }

    static func delivery(number: UInt64 = 1, headers: [MessageHeader] = [], body: String = "{}") -> Delivery {
        Delivery(
            tag: DeliveryTag(epoch: 1, number: number), deliveryClass: .interactive, isRedelivered: false,
            exchange: "apus.changes",
            routingKey: "a.b", message: Message(headers: headers, body: Array(body.utf8)))
    }

    static func device(_ identifier: String, app: String = "chat", platform: Platform = .apns) -> Recipient {
        let bytes = Array(identifier.utf8)
        guard let token = DeviceToken(bytes: bytes.isEmpty ? [0] : bytes) else {
            preconditionFailure("a sample name is a valid token")
        }
        return Recipient(deviceID: identifier, platform: platform, token: token, app: app)
    }

    static func job(
        number: UInt64 = 1, devices: [Recipient], deliveryClass: DeliveryClass = .interactive, apps: [AppRoute] = [app],
        retryState: RetryState? = nil, continuation: AudienceCursor? = nil, chunk: DeliveryTag? = nil,
        pushType: PushType = .alert
    ) -> DispatchJob {
        let delivery = delivery(number: number)
        return DispatchJob(
            tags: chunk == nil ? [delivery.tag] : [], deliveryClass: deliveryClass, message: delivery.message,
            retryState: retryState ?? RetryState(of: delivery, nowMilliseconds: 0),
            identity: PushIdentity(source: "test", identifier: "\(number)"),
            event: event(delivery, retryState: retryState),
            renderings: apps.map { AppRendering(app: $0, content: content(pushType)) }, devices: devices,
            continuation: continuation, chunk: chunk)
    }

    /// The same app, whose backend wants to hear of some outcomes.
    static func app(hearing outcomes: OutcomeSelection, like app: AppRoute = app) -> AppRoute {
        AppRoute(
            index: app.index, name: app.name, service: app.service, bundleID: app.bundleID,
            transportRoutes: [.apns: app.productionRoute, .apnsSandbox: app.sandboxRoute, .courier: app.courierRoute],
            outcomes: outcomes)
    }

    /// An event whose identifier is the number of its delivery.
    static func event(
        _ delivery: Delivery, retryState: RetryState? = nil, campaign: String? = nil
    ) -> DecodedEvent {
        DecodedEvent(
            delivery: delivery, retryState: retryState ?? RetryState(of: delivery, nowMilliseconds: 0),
            event: ChangeEvent(
                identifier: "\(delivery.tag.number)", source: "test", time: nil,
                kind: .push(
                    RequestedPush(
                        app: "chat", audience: .topic("all", app: "chat"), notification: Notification(),
                        options: PushOptions(), campaign: campaign))), renderings: [])
    }

    static func machine(
        limits: DispatchLimits = DispatchLimits(), attempts: Int = 3, appCount: Int = 1
    ) -> DispatchStateMachine {
        DispatchStateMachine(
            appCount: appCount,
            policy: RetryPolicy(
                delaysMilliseconds: [1_000, 60_000], attemptsMaximum: attempts, ageMaximumMilliseconds: 3_600_000,
                serverErrorDelayMilliseconds: 0),
            queues: DispatchQueues(
                retry: [1_000: "retry.1s", 60_000: "retry.1m"], fanout: "fanout", deadLetter: "dead"), limits: limits)
    }
}
