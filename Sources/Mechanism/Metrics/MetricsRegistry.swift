import Synchronization

/// All metrics of one process, and their text for Prometheus (text format 0.0.4).
///
/// Metrics are made once, at start, so that each shows as 0 before its first event. The same name and labels give the
/// same instrument.
public final class MetricsRegistry: Sendable {
    /// One label of a metric.
    public struct Label: Hashable, Sendable {
        /// The name, for example `app`.
        public let name: String
        /// The value; from a small known set, never an identifier of an event or a device.
        public let value: String

        /// Creates a label.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    private enum Instrument: Sendable {
        case counter(Counter)
        case gauge(Gauge)
        case histogram(Histogram)
        case reading(@Sendable () -> Double)
    }

    private struct Family: Sendable {
        var help: String
        var type: String
        var members: [(labels: [Label], instrument: Instrument)] = []
    }

    private let families = Mutex<(order: [String], byName: [String: Family])>(([], [:]))

    /// Creates an empty registry.
    public init() {}

    /// A counter; its name ends in `_total`.
    public func counter(_ name: String, help: String, labels: [Label] = []) -> Counter {
        let instrument = register(name, help: help, type: "counter", labels: labels) { .counter(Counter()) }
        guard case .counter(let counter) = instrument else { preconditionFailure("\(name) is not a counter") }
        return counter
    }

    /// A gauge.
    public func gauge(_ name: String, help: String, labels: [Label] = []) -> Gauge {
        let instrument = register(name, help: help, type: "gauge", labels: labels) { .gauge(Gauge()) }
        guard case .gauge(let gauge) = instrument else { preconditionFailure("\(name) is not a gauge") }
        return gauge
    }

    /// A histogram of durations; its name ends in `_seconds`.
    public func histogram(_ name: String, help: String, boundsSeconds: [Double], labels: [Label] = []) -> Histogram {
        let instrument = register(name, help: help, type: "histogram", labels: labels) {
            .histogram(Histogram(boundsSeconds: boundsSeconds))
        }
        guard case .histogram(let histogram) = instrument else { preconditionFailure("\(name) is not a histogram") }
        return histogram
    }

    /// A gauge whose value is read when the metrics are rendered.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - help: the description.
    ///   - labels: the labels; a second reading of the same name and labels is ignored.
    ///   - read: gives the value; runs on the thread that renders, so it must be quick and must not render itself.
    public func gauge(_ name: String, help: String, labels: [Label] = [], read: @escaping @Sendable () -> Double) {
        _ = register(name, help: help, type: "gauge", labels: labels) { .reading(read) }
    }

    /// A counter that something else counts, read when the metrics are rendered; its name ends in `_total`.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - help: the description.
    ///   - labels: the labels; a second reading of the same name and labels is ignored.
    ///   - read: gives the value, which never falls; runs on the thread that renders.
    public func counter(_ name: String, help: String, labels: [Label] = [], read: @escaping @Sendable () -> Double) {
        _ = register(name, help: help, type: "counter", labels: labels) { .reading(read) }
    }

    private func register(
        _ name: String, help: String, type: String, labels: [Label], make: () -> Instrument
    ) -> Instrument {
        families.withLock { families in
            if families.byName[name] == nil { families.order.append(name) }
            var family = families.byName[name] ?? Family(help: help, type: type)
            precondition(family.type == type, "\(name) is registered as a \(family.type) already")
            defer { families.byName[name] = family }
            if let member = family.members.first(where: { $0.labels == labels }) { return member.instrument }
            let instrument = make()
            family.members.append((labels, instrument))
            return instrument
        }
    }

    /// Writes every metric in the text format, families in the order in which they were made.
    public func render() -> String {
        let snapshot = families.withLock { families in
            families.order.compactMap { name in families.byName[name].map { (name, $0) } }
        }
        var text = ""
        for (name, family) in snapshot {
            text += "# HELP \(name) \(Self.escape(family.help, quotes: false))\n# TYPE \(name) \(family.type)\n"
            for member in family.members {
                Self.render(member.instrument, name: name, labels: member.labels, to: &text)
            }
        }
        return text
    }

    private static func render(_ instrument: Instrument, name: String, labels: [Label], to text: inout String) {
        switch instrument {
        case .counter(let counter): text += "\(name)\(render(labels)) \(counter.value)\n"
        case .gauge(let gauge): text += "\(name)\(render(labels)) \(gauge.value)\n"
        case .reading(let read): text += "\(name)\(render(labels)) \(render(read()))\n"
        case .histogram(let histogram): render(histogram, name: name, labels: labels, to: &text)
        }
    }

    private static func render(_ histogram: Histogram, name: String, labels: [Label], to text: inout String) {
        var cumulated = 0
        let counts = histogram.bucketCounts
        for (index, count) in counts.enumerated() {
            cumulated += count
            let bound = index < histogram.boundsSeconds.count ? "\(histogram.boundsSeconds[index])" : "+Inf"
            text += "\(name)_bucket\(render(labels + [Label("le", bound)])) \(cumulated)\n"
        }
        text += "\(name)_sum\(render(labels)) \(histogram.sumSeconds)\n"
        text += "\(name)_count\(render(labels)) \(cumulated)\n"
    }

    /// A number as Prometheus reads it; whole numbers without a fraction.
    private static func render(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    private static func render(_ labels: [Label]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escape($0.value, quotes: true))\"" }.joined(separator: ",") + "}"
    }

    private static func escape(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
