internal import Essentials
internal import JSON

/// Writes the CloudEvents of a plan.
public struct LoadEventWriter: Sendable {
    /// An event, ready to be published.
    public struct Written: Sendable, Equatable {
        /// The identifier of event and message.
        public var identifier: String
        /// The routing key: the type and the subject.
        public var routingKey: String
        /// The event, in structured JSON.
        public var body: [UInt8]
    }

    /// The addressees of the requested pushes of one device.
    public enum Addressing: Sendable, Equatable {
        /// The generated users.
        case users
        /// Devices of the registry, by their identifiers.
        case devices([String])
        /// One device token, registered or not.
        case token(String)
    }

    /// The source of the events.
    private static let source = "/apus-load"

    private let plan: LoadPlan
    private let names: LoadNames
    private let app: String
    private let pool: String
    private let addressing: Addressing
    private let bodyBytes: Int

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - plan: the events.
    ///   - names: the names of the run.
    ///   - app: the app of the configuration.
    ///   - pool: an identity pool of the app; empty if there is none.
    ///   - addressing: whom requested pushes are addressed to.
    ///   - bodyBytes: how long a body is made by padding, in bytes; shorter ones are not cut.
    public init(
        plan: LoadPlan, names: LoadNames, app: String, pool: String, addressing: Addressing, bodyBytes: Int
    ) {
        self.plan = plan
        self.names = names
        self.app = app
        self.pool = pool
        self.addressing = addressing
        self.bodyBytes = bodyBytes
    }

    /// Writes an event.
    ///
    /// - Parameters:
    ///   - number: its number in the plan.
    ///   - milliseconds: when it is meant to be published, in milliseconds since 1970.
    /// - Returns: the event with its routing key.
    public func event(_ number: Int, atMilliseconds milliseconds: Int64) -> Written {
        let event = plan.event(number)
        let mark = names.mark + String(number)
        let body = body(event, number, mark, milliseconds, paddingBytes: 0)
        let missing = bodyBytes - body.count
        return Written(
            identifier: mark, routingKey: Self.routingKey(of: event, mark),
            body: missing > 0 ? self.body(event, number, mark, milliseconds, paddingBytes: missing) : body)
    }

    private static func routingKey(of event: LoadPlan.Event, _ mark: String) -> String {
        switch event.kind {
        case .push, .fanOut: "push.requested.\(mark)"
        case .dataset: "dataset.changed.\(LoadNames.device(event.device))"
        case .record: "record.created.\(mark)"
        }
    }

    private func body(
        _ event: LoadPlan.Event, _ number: Int, _ mark: String, _ milliseconds: Int64, paddingBytes: Int
    ) -> [UInt8] {
        var writer = JSONWriter(capacityBytes: max(512, bodyBytes + 64))
        writer.beginObject()
        writer.member("specversion", "1.0")
        writer.member("id", mark)
        writer.member("source", Self.source)
        writer.member("type", Self.type(of: event.kind))
        writer.member("time", WallTime.text(milliseconds: milliseconds))
        // An attribute of the event, because its data takes no unknown member; a worker passes over it.
        if paddingBytes > 0 {
            writer.member("padding", String(repeating: "x", count: max(0, paddingBytes - Self.paddingFrameBytes)))
        }
        writer.key("data")
        writer.beginObject()
        switch event.kind {
        case .push: writePush(to: &writer, event, mark)
        case .fanOut: writeFanOut(to: &writer, mark)
        case .dataset: writeDataset(to: &writer, event, number)
        case .record: writeRecord(to: &writer, event, mark)
        }
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }

    /// The bytes of `"padding":"",`.
    private static let paddingFrameBytes = 13

    private static func type(of kind: LoadPlan.Kind) -> String {
        switch kind {
        case .push, .fanOut: "com.example.push.requested"
        case .dataset: "com.example.dataset.changed"
        case .record: "com.example.record.created"
        }
    }

    private func writePush(to writer: inout JSONWriter, _ event: LoadPlan.Event, _ mark: String) {
        writer.member("app", app)
        switch addressing {
        case .users:
            writer.key("userIds")
            writer.beginArray()
            writer.string(LoadNames.user(event.device))
        case .devices(let identifiers):
            writer.key("deviceIds")
            writer.beginArray()
            writer.string(identifiers[event.device % identifiers.count])
        case .token(let token):
            writer.key("deviceTokens")
            writer.beginArray()
            writer.string(token)
        }
        writer.endArray()
        writeNotification(to: &writer, mark)
    }

    private func writeFanOut(to writer: inout JSONWriter, _ mark: String) {
        writer.member("app", app)
        writer.member("topic", LoadNames.topic(audience: plan.audience))
        writeNotification(to: &writer, mark)
    }

    private func writeNotification(to writer: inout JSONWriter, _ mark: String) {
        writer.key("notification")
        writer.beginObject()
        writer.member("title", "A push of apus load")
        writer.member("body", "It measures how long this took.")
        writer.key("data")
        writer.beginObject()
        writer.member("load", mark)
        writer.endObject()
        writer.endObject()
    }

    private func writeDataset(to writer: inout JSONWriter, _ event: LoadPlan.Event, _ number: Int) {
        writer.member("identityPoolId", pool)
        writer.member("identityId", LoadNames.identity(event.device, pool: pool))
        writer.member("datasetName", LoadNames.dataset)
        writer.key("syncCount")
        writer.integer(names.syncCountBase + Int64(number))
    }

    private func writeRecord(to writer: inout JSONWriter, _ event: LoadPlan.Event, _ mark: String) {
        writer.member("app", app)
        writer.member("recordType", LoadNames.recordType)
        writer.member("recordName", mark)
        writer.key("fields")
        writer.beginObject()
        writer.key(dynamic: LoadNames.field)
        writer.integer(event.device)
        writer.endObject()
    }
}
