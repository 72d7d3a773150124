import PushTestKit
import RegistryAPI
import RegistryCore
import TestTraits
import Testing

@Suite("Bodies of requests as other programs write them", .ownThread)
struct BodyDialectTests {
    private static let device = #"{"platform":"APNS","token":"ab12","app":"chat","userId":"mei"}"#

    @Test("A body may begin with a byte order mark, and its whole numbers may have a fraction of zero")
    func lenient() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        #expect(client.send("PUT", "/v1/devices/d", "\u{feff}" + Self.device).status == 201)
        #expect(try fixture.registry().device("d")?.userID == "mei")
        for (number, status) in [("7.0", 204), ("7e0", 204), ("7", 204), ("7.5", 400), ("1e30", 400), ("-7.0", 400)] {
            let answer = client.send("PUT", "/v1/devices/d/badge", #"{"badge":\#(number)}"#)
            #expect((answer.status / 100 == 2) == (status == 204), "\(number): \(answer)")
        }
        #expect(client.send("GET", "/v1/devices/d/badge").body.contains("7"))
    }

    @Test("A body with a key that occurs twice is refused by name, and changes nothing")
    func repeatedKeys() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        let bodies = [
            "{\"userId\":\"ada\"," + String(Self.device.dropFirst()),
            String(Self.device.dropLast()) + #","tokens":{"voip":"01","voip":"02"}}"#,
        ]
        for body in bodies {
            let answer = client.send("PUT", "/v1/devices/d", body)
            #expect(answer.status == 400 && answer.body.contains("is there twice in one object"), "\(answer)")
        }
        #expect(try fixture.registry().device("d") == nil)
    }

    @Test("Bodies of CloudKit follow the same rules")
    func cloudKit() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture, app: "chat")
        let path = "/database/1/iCloud.com.example.chat/production/public/subscriptions/modify"
        func modify(_ body: String) -> PlainHTTP.Answer {
            PlainHTTP.request(
                "POST", "\(path)?ckAPIToken=\(token)&ckWebAuthToken=mei", port: fixture.server.port, body: body)
        }
        #expect(modify("\u{feff}" + #"{"operations":[]}"#).status == 200)
        let refused = modify(#"{"operations":[],"operations":[]}"#)
        #expect(refused.status == 400 && refused.body.contains("there twice"), "\(refused)")
    }
}
