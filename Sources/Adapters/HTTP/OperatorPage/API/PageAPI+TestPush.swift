import Backoffice
import Essentials
import HTTPServer
import JSON
import Notifications
import RegistryCore

/// Test pushes: an event like any other, so that the whole way is tested.
extension PageAPI {
    private static let textCountMaximum = 200
    private static let source = "apus-page"
    private static let outcomesMaximum = 100

    /// `POST test-push`.
    func sendTestPush(_ call: PageCall) async throws -> HTTPResponse {
        let broker = try requiredBroker()
        let (deviceID, title, text) = try call.body(["deviceId", "title", "body"]) { (body) throws(PageProblem) in
            (try body.requiredText("deviceId"), try body.text("title"), try body.text("body"))
        }
        guard title != nil || text != nil else { throw PageProblem(.invalid, "Give a title or a body.") }
        for value in [title, text].compactMap(\.self) where value.count > Self.textCountMaximum {
            throw PageProblem(
                .invalid,
                "A text of \(value.count) characters is too long: expected at most "
                    + "\(Self.textCountMaximum).")
        }
        guard let device = try await store.run({ try $0.device(deviceID) }) else {
            throw PageProblem(.notFound, "No device is registered as \"\(deviceID.shortened(bytesMaximum: 100))\".")
        }
        let identifier = Self.randomIdentifier()
        let event = Self.event(identifier, device, title: title, body: text)
        try await actions.performAway(.sendTestPush, call.user, target: "device \(deviceID) of \(device.app)") {
            try await broker.publish(event, type: "push.requested")
        }
        let identity = PushIdentity(source: Self.source, identifier: identifier)
        return PageResponse.object(202) { writer in
            writer.member("eventId", identifier)
            writer.member("eventSource", Self.source)
            writer.member("apnsId", identity.apnsID(for: device.token).description)
        }
    }

    /// `GET test-push`: what became of one, if workers keep that.
    func testPush(_ call: PageCall) async throws -> HTTPResponse {
        guard let identifier = call.text("id") else { throw PageProblem(.invalid, "id is missing: expected an event.") }
        guard configuration.keepsHistory else { return PageResponse.object { $0.member("isKept", false) } }
        let bodies = try await store.run { try $0.keptOutcomes(ofEvent: identifier, limit: Self.outcomesMaximum) }
        let summary = EventSummary(bodies, source: Self.source, app: nil)
        return PageResponse.object { writer in
            writer.member("isKept", true)
            summary.write(identifier, to: &writer)
        }
    }

    private static func event(_ identifier: String, _ device: Device, title: String?, body: String?) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("specversion", "1.0")
            writer.member("id", identifier)
            writer.member("source", source)
            writer.member("type", "push.requested")
            writer.object("data") { writer in
                writer.member("app", device.app)
                writer.array("deviceIds", texts: [device.deviceID])
                writer.object("notification") { writer in
                    writer.member("title", title)
                    writer.member("body", body)
                }
            }
        }
    }

    private static func randomIdentifier() -> String {
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
        return "test-\(digits.joined())"
    }
}
