import DispatchCore
public import Essentials
internal import JSON
public import Messages
public import Notifications

/// The outcome of some pushes of an event, as read from a message of the exchange for outcomes.
public struct OutcomeReport: Hashable, Sendable {
    /// One push.
    public struct Push: Hashable, Sendable {
        /// The device.
        public var deviceID: String
        /// The push service and environment.
        var platform: Platform
        /// The subscription to records that it is for; nil if it is for none.
        public var subscriptionID: String?
        /// The push's `apns-id`, or what stands for it; nil if it was never sent.
        var pushID: String?
        /// Why it ended so; empty if it was accepted.
        public var reason: String
        /// When it ended.
        public var ended: WallTime
    }

    /// A message that is no outcome of Apus.
    public struct Fault: Error, Hashable, CustomStringConvertible {
        /// The fault, in words.
        public let description: String
    }

    /// The identifier of the message: the same for a repetition of it.
    var identifier: String
    /// The outcome of the pushes.
    public var kind: OutcomeKind
    /// The app.
    public var app: String
    /// The event's CloudEvents attribute `source`.
    public var eventSource: String
    /// The event's CloudEvents attribute `id`.
    public var eventIdentifier: String
    /// The event's type.
    public var eventType: String
    /// The campaign that the event names; nil if it names none.
    public var eventCampaign: String?
    /// The dataset that the event is about; nil if it is about none.
    var datasetName: String?
    /// When the event was published.
    var published: WallTime
    /// Which attempt of the event it was, from 1.
    var attempt: Int
    /// Why the event ended as a whole; empty if it expired, or if there are pushes.
    public var reason: String
    /// The pushes; none if the event ended before its devices were known.
    public var pushes: [Push]

    /// Reads a message.
    ///
    /// - Parameter message: a message that came by the exchange for outcomes.
    /// - Throws: `Fault` if it is none that a worker has written.
    public init(_ message: Message) throws(Fault) {
        let parser = JSONParser(depthMaximum: 8)
        let body: JSONValue
        do throws(JSONError) {
            body = try parser.parse(message.body)
        } catch { throw Fault(description: "the body is no JSON: \(error.message)") }
        func text(_ value: JSONValue?, _ name: String) throws(Fault) -> String {
            guard let text = value?.string else { throw Fault(description: "\(name) is missing, or no text") }
            return text
        }
        identifier = message.properties.messageID ?? ""
        let word = try text(body["outcome"], "outcome")
        guard let kind = OutcomeKind(rawValue: word) else {
            throw Fault(description: "outcome is \(word.excerpt); it must be one of \(OutcomeKind.listing)")
        }
        self.kind = kind
        app = try text(body["app"], "app")
        let event = body["event"]
        eventSource = try text(event?["source"], "event.source")
        eventIdentifier = try text(event?["id"], "event.id")
        eventType = try text(event?["type"], "event.type")
        eventCampaign = event?["campaign"]?.string
        datasetName = event?["datasetName"]?.string
        reason = body["reason"]?.string ?? ""
        published = WallTime(milliseconds: event?["publishedAtMs"]?.int64 ?? 0)
        attempt = Int(clamping: body["attempt"]?.int64 ?? 1)
        guard let list = body["pushes"]?.array else { throw Fault(description: "pushes is missing, or no array") }
        pushes = []
        for value in list {
            let name = try text(value["platform"], "pushes[].platform")
            guard let platform = Platform(rawValue: name) else {
                throw Fault(description: "pushes[].platform is \(name.excerpt), which is unknown")
            }
            pushes.append(
                Push(
                    deviceID: try text(value["deviceId"], "pushes[].deviceId"), platform: platform,
                    subscriptionID: value["subscriptionId"]?.string, pushID: value["pushId"]?.string,
                    reason: value["reason"]?.string ?? "",
                    ended: WallTime(milliseconds: value["endedAtMs"]?.int64 ?? 0)))
        }
    }
}

extension Message {
    /// When the worker wrote this outcome; 1970 if nothing says so.
    public var outcomeTime: WallTime {
        if case .string(let text)? = header(OutcomeMessage.attributePrefix + "time"),
            let milliseconds = WallTime.milliseconds(text)
        {
            return WallTime(milliseconds: milliseconds)
        }
        return WallTime(seconds: properties.timestampSeconds ?? 0)
    }
}
