import Notifications
import PushTestKit

/// The same notification for every push service, in the form that each one takes.
enum ServiceContent {
    /// The project of the service account that a simulator of FCM makes.
    static let project = "apus-simulator"

    /// A title and a text, which are 200 bytes of payload at APNs.
    static var notification: Notification {
        var notification = Notification()
        notification.title = "A new message"
        notification.body = String(repeating: "x", count: 139)
        return notification
    }

    /// The content for a service.
    static func content(for service: PushService) throws -> PushContent {
        var builder = service.makeContentBuilder(bundleID: Workbench.bundleID)
        return try builder.content(of: notification, options: PushOptions())
    }

    /// A registration token of FCM with the usual length: 163 characters.
    static func registrationToken() throws -> DeviceToken {
        let text = "dQw4w9WgXcQabcdefghijk:APA91b" + String(repeating: "Ab3_", count: 33) + "Zz"
        guard let token = DeviceToken(text: Array(text.utf8)) else {
            throw BenchmarkFailure(description: "\(text) is no token")
        }
        return token
    }
}
