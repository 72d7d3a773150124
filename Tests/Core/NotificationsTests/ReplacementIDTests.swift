import Notifications
import Testing

@Suite("What stands in for a collapse identifier that nobody asked for")
struct ReplacementIDTests {
    private static let notification = {
        var notification = Notification()
        notification.body = "B"
        return notification
    }()

    private func text(_ content: PushContent) -> String { String(decoding: content.payload, as: UTF8.self) }

    @Test("Each service replaces the first copy by it where that costs no other push")
    func places() throws {
        let options = PushOptions(replacementID: "again")
        var apns = PushContentBuilder(bundleID: "com.example.chat")
        #expect(try apns.content(of: Self.notification, options: options).collapseID == "again")
        var fcm = FCMMessageBuilder()
        let message = text(try fcm.content(of: Self.notification, options: options))
        // Of a device that is away, FCM keeps four collapse keys.
        #expect(message.contains(#""tag":"again""#) && !message.contains("collapse_key"))
        var browser = WebPushMessageBuilder()
        let declarative = try browser.content(of: Self.notification, options: options)
        #expect(text(declarative).contains(#""tag":"again""#) && !declarative.topic.isEmpty)
        var adm = ADMMessageBuilder()
        #expect(text(try adm.content(of: Self.notification, options: options)).contains(#""consolidationKey":"again""#))
    }

    @Test("It gives way to a collapse identifier", arguments: PushService.allCases)
    func givesWay(_ service: PushService) throws {
        var builder = service.makeContentBuilder(bundleID: "com.example.chat")
        let both = PushOptions(collapseID: "mine", replacementID: "again")
        let one = try builder.content(of: Self.notification, options: PushOptions(collapseID: "mine"))
        let content = try builder.content(of: Self.notification, options: both)
        #expect(content.payload == one.payload)
        #expect(content.collapseID == "mine" && content.topic == one.topic)
    }
}
