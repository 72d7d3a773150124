import ChangeEvents
import Notifications
import Testing

@Suite("What differs at each push service")
struct PushVariantTests {
    private let decoding = EventDecoding()

    private func push(_ members: String) throws -> RequestedPush {
        let data =
            #"{"app":"chat","topic":"news","notification":{"title":"T","body":"B","sound":"s","data":{"a":1,"b":2}},"#
            + #""options":{"priority":10,"collapseId":"c"}\#(members.isEmpty ? "" : ",")\#(members)}"#
        let event = #"{"specversion":"1.0","id":"1","source":"s","type":"push.requested","data":\#(data)}"#
        return try #require(try decoding.push(Array(event.utf8)))
    }

    private func problem(_ members: String) -> String {
        do {
            _ = try push(members)
            return ""
        } catch { return "\(error)" }
    }

    @Test("Without differences every push service gets the same")
    func same() throws {
        let push = try push("")
        for service in PushService.allCases {
            let content = push.content(for: service)
            #expect(content.notification == push.notification && content.options == push.options)
        }
    }

    @Test("A member replaces that for all at its services, null takes it away, and the others get what they got")
    func replaced() throws {
        let push = try push(
            #""android":{"notification":{"sound":"ping","title":null,"data":{"c":3}},"options":{"priority":5}},"#
                + #""webpush":{"options":{"collapseId":null}}"#)
        for service in [PushService.fcm, .adm] {
            let (notification, options) = push.content(for: service)
            #expect(notification.sound == .named("ping") && notification.title == nil && notification.body == "B")
            #expect(notification.customData.map(\.key) == ["c"])
            #expect(options.priority == .conserving && options.collapseID == "c")
        }
        let web = push.content(for: .webPush)
        #expect(web.notification == push.notification && web.options.collapseID == nil)
        for service in [PushService.apns, .courier] {
            #expect(push.content(for: service).notification == push.notification)
        }
        #expect(try self.push(#""apns":{"notification":{"badge":7}}"#).content(for: .courier).notification.badge == 7)
    }

    @Test(
        "What cannot be said for one service is refused with its path",
        arguments: [
            (#""android":{"notification":{"subject":"x"}}"#, "data.android.notification"),
            (#""android":{"notification":{"badge":-1}}"#, "data.android.notification.badge"),
            (#""android":{"notification":{"locArgs":["x"]}}"#, "data.android.notification.locKey"),
            (#""android":{"options":{"pushType":"voip"}}"#, "data.android.options"),
            (#""webpush":{"options":{"expiration":0}}"#, "data.webpush.options"),
            (#""webpush":{"headers":{}}"#, "data.webpush"), (#""webpush":7"#, "data.webpush"),
            (#""apns":{"notification":{"event":"update","contentState":{}}}"#, "data.apns"),
            (#""windows":{}"#, "data"),
        ])
    func refused(_ members: String, _ path: String) {
        #expect(problem(members).contains(path), "\(problem(members))")
    }
}
