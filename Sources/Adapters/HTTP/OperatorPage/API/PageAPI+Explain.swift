import Backoffice
import HTTPServer
import JSON
import Messages
import Notifications
import RegistryCore

/// Explains why a device gets an event, or does not.
extension PageAPI {
    /// `POST explain`.
    func explain(_ call: PageCall) async throws -> HTTPResponse {
        let (deviceID, letterID, event) = try call.body(["deviceId", "event", "deadLetterId"]) {
            (body) throws(PageProblem) in
            let deviceID = try body.requiredText("deviceId")
            let letterID = try body.text("deadLetterId")
            guard (letterID == nil) != (body["event"] == nil) else {
                throw PageProblem(.invalid, "Give either event, a CloudEvent, or deadLetterId.")
            }
            guard let event = body["event"] else { return (deviceID, letterID, [UInt8]()) }
            guard event.object != nil else {
                throw PageProblem(.invalid, "event is \(event.kindDescription): expected a CloudEvent, an object.")
            }
            return (deviceID, letterID, event.minified)
        }
        let message: Message
        if let letterID {
            message = try await letter(named: letterID).message
        } else {
            var properties = MessageProperties()
            properties.contentType = "application/cloudevents+json"
            message = Message(properties: properties, body: event)
        }
        let now = nowMilliseconds
        let (apps, sources) = (configuration.apps, configuration.sources)
        let explanation = try await store.run { registry in
            try EventExplanation(
                of: message, for: deviceID, apps: apps, sources: sources, registry: registry, nowMilliseconds: now)
        }
        return PageResponse.object { writer in
            writer.member("verdict", explanation.verdict.rawValue)
            writer.member("summary", PageMask.text(explanation.summary))
            writer.array("steps", explanation.steps) { writer, step in
                writer.member("check", step.check)
                if let holds = step.holds { writer.member("ok", holds) }
                writer.member("text", PageMask.text(step.text))
            }
            writer.member("apnsId", explanation.apnsID?.description)
        }
    }
}
