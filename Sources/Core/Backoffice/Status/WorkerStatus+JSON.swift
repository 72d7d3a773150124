import DispatchCore
import Essentials
internal import JSON
import RegistryCore

/// The form in which a report keeps a status.
///
/// Reports of other versions are read as well: an unknown member says nothing, and a missing one has its default.
extension WorkerStatus {
    /// How many checks, apps and buckets are read, and how long a text may be, so that an edited row stays small.
    private static let entriesMaximum = 1_000
    private static let textBytesMaximum = 2_048

    /// The status in JSON.
    public var json: [UInt8] {
        var writer = JSONWriter(capacityBytes: 4_096)
        writer.beginObject()
        for (name, text) in [("kind", kind.rawValue), ("host", host), ("version", version)] {
            writer.member(dynamic: name, text)
        }
        writer.member("processId", processIdentifier)
        writer.member("startedAt", startedAtMilliseconds)
        writer.member("unsettled", unsettledDeliveries)
        writer.member("isConsumerPaused", isConsumerPaused)
        writer.array("checks", checks) { writer, check in
            writer.member("name", check.name)
            guard let failure = check.failure else { return }
            writer.member("failure", failure.shortened(bytesMaximum: Self.textBytesMaximum))
            writer.member("onlyDegrades", check.onlyDegrades)
        }
        writer.array("apps", apps) { writer, app in Self.write(app, to: &writer) }
        writer.array("lagBoundsSeconds") { writer in for bound in lagBoundsSeconds { writer.double(bound) } }
        writer.array("samples", samples) { writer, sample in
            writer.member("end", sample.endMilliseconds)
            sample.counts.write("counts", to: &writer)
            writer.array("lag") { writer in for count in sample.lagCounts { writer.integer(count) } }
        }
        writer.endObject()
        return writer.bytes
    }

    private static func write(_ app: App, to writer: inout JSONWriter) {
        writer.member("name", app.name)
        writer.key("problems")
        writer.beginArray()
        for problem in app.problems { writer.string(problem.shortened(bytesMaximum: textBytesMaximum)) }
        writer.endArray()
        app.totals.write("totals", to: &writer)
        app.recent.write("recent", to: &writer)
        writer.member("connections", app.openConnections)
        writer.member("streams", app.openStreams)
    }

    /// Reads a status; nil if the bytes are none, because somebody has edited them.
    init?(json: [UInt8]) {
        let parser = JSONParser(bytesMaximum: WorkerReportRules.contentBytesMaximum, roundsNumbers: true)
        guard let root = try? parser.parse(json), root.object != nil, let host = root["host"]?.string else {
            return nil
        }
        self.init(
            kind: root["kind"]?.string.flatMap { Kind(rawValue: $0) } ?? .worker, host: host,
            processIdentifier: Self.count(root["processId"]), version: root["version"]?.string ?? "",
            startedAtMilliseconds: WallTime(milliseconds: root["startedAt"]?.int64 ?? 0).milliseconds)
        unsettledDeliveries = Self.count(root["unsettled"])
        isConsumerPaused = root["isConsumerPaused"]?.bool ?? false
        checks = Self.entries(root["checks"]).compactMap { check in
            check["name"]?.string.map { name in
                Check(
                    name: name, failure: check["failure"]?.string,
                    onlyDegrades: check["onlyDegrades"]?.bool ?? false)
            }
        }
        apps = Self.entries(root["apps"]).compactMap { App($0) }
        lagBoundsSeconds = Self.entries(root["lagBoundsSeconds"]).compactMap(\.double)
        samples = Self.entries(root["samples"]).suffix(WorkerReportRules.samplesMaximum).map { sample in
            Sample(
                endMilliseconds: WallTime(milliseconds: sample["end"]?.int64 ?? 0).milliseconds,
                counts: PushCounts(sample["counts"]), lagCounts: Self.entries(sample["lag"]).map { Self.count($0) })
        }
    }

    fileprivate static func entries(_ value: JSONValue?) -> [JSONValue] {
        (value?.array).map { Array($0.prefix(entriesMaximum)) } ?? []
    }

    /// A number that is not negative; anything else is 0.
    fileprivate static func count(_ value: JSONValue?) -> Int {
        max(0, Int(clamping: value?.int64 ?? 0))
    }
}

extension WorkerStatus.App {
    fileprivate init?(_ value: JSONValue) {
        guard let name = value["name"]?.string else { return nil }
        self.init(name: name)
        problems = WorkerStatus.entries(value["problems"]).compactMap(\.string)
        totals = PushCounts(value["totals"])
        recent = PushCounts(value["recent"])
        openConnections = WorkerStatus.count(value["connections"])
        openStreams = WorkerStatus.count(value["streams"])
    }
}

extension PushCounts {
    fileprivate func write(_ key: StaticString, to writer: inout JSONWriter) {
        writer.object(key) { writer in
            for (name, count) in Self.names where self[keyPath: count] != 0 {
                writer.member(name, self[keyPath: count])
            }
        }
    }

    fileprivate init(_ value: JSONValue?) {
        self.init()
        for (name, count) in Self.names { self[keyPath: count] = WorkerStatus.count(value?[name]) }
    }
}
