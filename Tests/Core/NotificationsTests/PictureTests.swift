import Notifications
import Testing

@Suite("The picture of a notification")
struct PictureTests {
    private static let notification = {
        var notification = Notification()
        notification.body = "B"
        notification.image = "https://a/b"
        return notification
    }()

    private func text(_ content: PushContent) -> String { String(decoding: content.payload, as: UTF8.self) }

    @Test("Each service gets it where it looks for it")
    func places() throws {
        var apns = PushContentBuilder(bundleID: "com.example.chat")
        #expect(
            text(try apns.content(of: Self.notification, options: PushOptions()))
                == #"{"aps":{"alert":"B","mutable-content":1},"image":"https://a/b"}"#)
        var fcm = FCMMessageBuilder()
        #expect(
            text(try fcm.content(of: Self.notification, options: PushOptions()))
                .contains(#""notification":{"body":"B","image":"https://a/b"}"#))
        var browser = WebPushMessageBuilder()
        #expect(
            text(try browser.content(of: Self.notification, options: PushOptions()))
                == #"{"notification":{"body":"B","image":"https://a/b"}}"#)
        var adm = ADMMessageBuilder()
        #expect(
            text(try adm.content(of: Self.notification, options: PushOptions()))
                .contains(#""data":{"body":"B","image":"https://a/b"}"#))
    }

    @Test("A key of the app's own with its name stays the only one for an iPhone")
    func ownKey() throws {
        var notification = Self.notification
        notification.customData = [CustomDatum(key: "image", value: RawJSON(validated: Array("7".utf8)))]
        var apns = PushContentBuilder(bundleID: "com.example.chat")
        #expect(
            text(try apns.content(of: notification, options: PushOptions()))
                == #"{"aps":{"alert":"B","mutable-content":1},"image":7}"#)
    }
}
