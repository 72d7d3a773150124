import ChangeEvents
import Foundation
import JSON
import Messages
import Notifications
import Predicates
import RegistryCore
import Testing

/// Pushes as the worker's own renderers make them.
enum RenderedPush {
    static let bundleID = "com.example.chat"
    static let key = DatasetKey(
        identityPoolID: "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c",
        identityID: "us-east-1:85f3a6d0-5b1e-4c2d-8f6a-0e9d7c6b5a41", datasetName: "settings")

    /// A notification info for records that have a title and an artist.
    static var info: NotificationInfo {
        var info = NotificationInfo()
        info.alertBody = "New: {title}"
        info.shouldBadge = true
        info.additionalFields = ["title", "price", "venue"]
        return info
    }

    /// Returns the JSON that a device of a service gets for a change of a dataset.
    static func dataset(
        _ operation: DatasetChange.Operation, syncCount: Int64?, key: DatasetKey = key, to service: PushService = .apns
    ) throws -> Data {
        var builder = service.makeContentBuilder(bundleID: bundleID)
        let change = DatasetChange(operation: operation, key: key, syncCount: syncCount, deviceID: nil)
        return try received(try builder.content(of: change, expirationSeconds: nil), service)
    }

    /// Returns the JSON that a device of a service gets for a notification.
    static func notification(
        _ notification: Notifications.Notification, _ options: PushOptions = PushOptions(),
        to service: PushService = .apns
    ) throws -> Data {
        var builder = service.makeContentBuilder(bundleID: bundleID)
        return try received(try builder.content(of: notification, options: options), service)
    }

    /// Returns the JSON that a device of a service gets for a change of a record that a subscription matches.
    static func record(
        _ change: RecordChange, kind: SubscriptionKind = .query, owner: SubscriptionOwner = .user("anna"),
        subscriptionID: String = "songs", _ info: NotificationInfo = info, to service: PushService = .apns
    ) throws -> Data {
        let subscription = PushedSubscription(
            row: 1, key: SubscriptionKey(app: "chat", owner: owner, subscriptionID: subscriptionID), kind: kind,
            database: change.database, firesOnce: false, notification: info)
        let push = SubscriptionPush(
            subscription: subscription, change: change, containerID: "iCloud." + bundleID,
            notificationID: EventDigest(source: "s", identifier: "1").uuid)
        var builder = service.makeContentBuilder(bundleID: bundleID)
        let rendered = try push.rendered(badge: 3) { (notification) throws(EventRejection) in
            try builder.content(of: notification, options: push.options(expirationSeconds: nil))
        }
        return try received(rendered.content, service)
    }

    /// Returns the JSON that a device of a service gets for a published event; a record's subscription is `info`'s.
    static func event(_ json: [UInt8], to service: PushService = .apns) throws -> Data {
        var properties = MessageProperties()
        properties.contentType = "application/cloudevents+json"
        switch try EventDecoder().decode(Message(properties: properties, body: json)).kind {
        case .dataset(let change):
            return try dataset(change.operation, syncCount: change.syncCount, key: change.key, to: service)
        case .record(let change): return try record(change, to: service)
        case .push(let push):
            let content = push.content(for: service)
            return try notification(content.notification, content.options, to: service)
        }
    }

    /// The part of a message that reaches the app.
    private static func received(_ content: PushContent, _ service: PushService) throws -> Data {
        var bytes = content.payload
        switch service {
        case .apns, .courier, .webPush: return Data(bytes)
        case .fcm:
            let token = try #require(DeviceToken(text: Array("token".utf8)))
            FCMMessageWriter.write(content, to: token, nowSeconds: 0, into: &bytes)
            let message = try JSONParser().parse(bytes)
            return Data(message["message"]?["data"]?.minified ?? Array("{}".utf8))
        case .adm:
            ADMMessageWriter.write(content, nowSeconds: 0, into: &bytes)
            return Data(try #require(try JSONParser().parse(bytes)["data"]?.minified))
        }
    }
}
