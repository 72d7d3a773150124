import ChangeEvents
import Essentials
public import JSON
import Messages
public import Notifications
public import RegistryCore

/// What became of an event, by the outcomes that the registry has kept: the newest of each push.
///
/// The pushes of a large fan-out are not kept, so it is told of as a whole.
public struct EventSummary {
    private struct Key: Hashable {
        let app: ByteText
        let deviceID: ByteText
        let subscriptionID: ByteText
    }

    /// The attribute `source` of the event.
    public private(set) var source = ""
    /// Its type.
    public private(set) var type = ""
    /// The sources of other events with the same `id`, which are left out.
    public private(set) var otherSources: Set<String> = []
    /// The pushes with their apps and attempts, in the order in which they were first told of.
    private var pushes: [(app: String, kind: OutcomeKind, attempt: Int, push: OutcomeReport.Push)] = []
    private var places: [Key: Int] = [:]
    /// How the event ended as a whole, for apps without a push of it.
    private var wholes: [(app: String, kind: OutcomeKind, reason: String)] = []
    /// The large fan-out of the event.
    private var fanOut: FanOut?

    /// Reads the outcomes of events with one identifier.
    ///
    /// - Parameters:
    ///   - bodies: the bodies of outcomes, in any order; one that is none is left out.
    ///   - source: the only source that counts; nil for that of the first outcome.
    ///   - app: the only app that counts; nil for all.
    public init(_ bodies: [[UInt8]], source: String?, app: String?) {
        var wanted = source
        for body in bodies {
            guard let report = try? OutcomeReport(Message(body: body)), app.map({ report.app.hasBytes(of: $0) }) ?? true
            else { continue }
            let source = wanted ?? report.eventSource
            wanted = source
            guard report.eventSource.hasBytes(of: source) else {
                otherSources.insert(report.eventSource)
                continue
            }
            self.source = source
            type = report.eventType
            add(report)
        }
    }

    /// Reads what a registry knows of the events with one identifier.
    ///
    /// - Parameters:
    ///   - identifier: the attribute `id`.
    ///   - source: the only source that counts; without it a large fan-out is found only beside outcomes.
    ///   - app: the only app that counts; nil for all.
    ///   - registry: the registry.
    ///   - maximum: the most outcomes that are read.
    /// - Throws: `RegistryError` if the registry does not answer.
    public init(
        of identifier: String, source: String?, app: String?,
        in registry: any FanOutRegistry & OutcomeHistoryRegistry, outcomesMaximum maximum: Int
    ) throws(RegistryError) {
        self.init(try registry.keptOutcomes(ofEvent: identifier, limit: maximum), source: source, app: app)
        guard let source = source ?? (isEmpty ? nil : self.source) else { return }
        for fanOut in try registry.fanOuts(of: [EventDigest(source: source, identifier: identifier)])
        where app.map({ $0.hasBytes(of: fanOut.event.app) }) ?? true {
            add(fanOut)
        }
    }

    private mutating func add(_ report: OutcomeReport) {
        if report.pushes.isEmpty { wholes.append((report.app, report.kind, report.reason)) }
        for push in report.pushes {
            let key = Key(
                app: ByteText(report.app), deviceID: ByteText(push.deviceID),
                subscriptionID: ByteText(push.subscriptionID ?? ""))
            let entry = (app: report.app, kind: report.kind, attempt: report.attempt, push: push)
            guard let place = places[key] else {
                places[key] = pushes.count
                pushes.append(entry)
                continue
            }
            let known = pushes[place]
            if (known.attempt, known.push.ended) < (entry.attempt, push.ended) { pushes[place] = entry }
        }
    }

    private mutating func add(_ fanOut: FanOut) {
        self.fanOut = fanOut
        source = fanOut.event.source
        type = fanOut.event.type
    }

    /// Whether nothing is known of the event.
    public var isEmpty: Bool { pushes.isEmpty && wholes.isEmpty && fanOut == nil }

    /// Whether each push that is known has ended, and none waits for a retry.
    public var isEnded: Bool {
        guard let fanOut, ![.done, .cancelled].contains(fanOut.state) else {
            return !isEmpty && pushes.allSatisfy { $0.kind != .retrying }
        }
        return false
    }

    /// How the pushes ended, and how far the large fan-out is, for people.
    public var text: String {
        let counts = counts.map { "\($0.count) \($0.kind.rawValue)" }
        return (counts + (fanOut.map { [Self.text($0)] } ?? [])).joined(separator: ", ")
    }

    private static func text(_ fanOut: FanOut) -> String {
        "a fan-out to \(fanOut.devicesPlanned) devices that is \(fanOut.state.rawValue) "
            + "(\(fanOut.chunksServed) of \(fanOut.chunksPlanned) chunks served)"
    }

    /// How many pushes ended how, in the order of `OutcomeKind`; an event that ended as a whole counts as one.
    public var counts: [(kind: OutcomeKind, count: Int)] {
        OutcomeKind.allCases.compactMap { kind in
            let count = pushes.count { $0.kind == kind } + wholes.count { $0.kind == kind }
            return count > 0 ? (kind, count) : nil
        }
    }

    // MARK: JSON

    /// Writes the members of an object.
    ///
    /// - Parameters:
    ///   - identifier: the attribute `id` of the event.
    ///   - writer: receives them.
    public func write(_ identifier: String, to writer: inout JSONWriter) {
        writer.member("id", identifier)
        writer.member("source", source)
        writer.member("type", type)
        writer.member("isEnded", isEnded)
        writer.object("counts") { writer in
            for (kind, count) in counts { writer.member(dynamic: kind.rawValue, count) }
        }
        writer.array("pushes", pushes) { writer, entry in
            writer.member("app", entry.app)
            writer.member("deviceId", entry.push.deviceID)
            writer.member("platform", entry.push.platform.rawValue)
            writer.member("subscriptionId", entry.push.subscriptionID)
            writer.member("outcome", entry.kind.rawValue)
            writer.member("reason", entry.push.reason.isEmpty ? nil : entry.push.reason)
            writer.member("attempt", entry.attempt)
            writer.member("pushId", entry.push.pushID)
            writer.member("endedAt", WallTime.text(milliseconds: entry.push.ended.milliseconds))
        }
        writer.array("wholeEvent", wholes) { writer, whole in
            writer.member("app", whole.app)
            writer.member("outcome", whole.kind.rawValue)
            writer.member("reason", whole.reason.isEmpty ? nil : whole.reason)
        }
        if let fanOut {
            writer.object("fanOut") { writer in
                writer.member("state", fanOut.state.rawValue)
                writer.member("devices", fanOut.devicesPlanned)
                writer.member("chunks", fanOut.chunksPlanned)
                writer.member("chunksServed", fanOut.chunksServed)
            }
        }
        writer.member("text", text)
        if !otherSources.isEmpty { writer.array("otherSources", texts: otherSources.sorted()) }
    }
}
