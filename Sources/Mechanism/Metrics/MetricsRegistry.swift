import Synchronization

/// All metrics of one process, and their text for Prometheus.
///
/// Metrics are made once, at start, so that each shows as 0 before its first event. The same name and labels give the
/// same instrument.
///
/// A part of the process that can be replaced while it runs, such as the worker at a reload, gets a `makePart()`: its
/// counters go on where those of its predecessor stopped, and its gauges go when it ends.
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

    private struct Member: Sendable {
        let labels: [Label]
        /// One for each part that has a gauge of this name and these labels; the sum is shown.
        var instruments: [(part: Int, instrument: Instrument)]
    }

    private struct Family: Sendable {
        var help: String
        var type: String
        var members: [Member] = []
    }

    private struct State: Sendable {
        var order: [String] = []
        var byName: [String: Family] = [:]
        var partCount = 1
    }

    private final class Storage: Sendable {
        let state = Mutex(State())
    }

    /// The part that owns all counters and histograms.
    private static let process = 0

    private let storage: Storage
    private let part: Int

    /// Creates an empty registry.
    public init() {
        storage = Storage()
        part = Self.process
    }

    private init(storage: Storage, part: Int) {
        self.storage = storage
        self.part = part
    }

    /// The same metrics, for a part of the process that ends before it.
    ///
    /// Counters and histograms are those of the process. Gauges are the part's own; while two parts have the same
    /// gauge, the sum of both is shown. A counter that is read when the metrics are rendered belongs to the process,
    /// not to a part.
    ///
    /// - Returns: a view of this registry; call `end` when the part has ended.
    public func makePart() -> MetricsRegistry {
        let part = storage.state.withLock { state in
            defer { state.partCount += 1 }
            return state.partCount
        }
        return MetricsRegistry(storage: storage, part: part)
    }

    /// Removes the gauges of this part, which has ended.
    public func end() {
        storage.state.withLock { [part] state in
            state.byName = state.byName.mapValues { family in
                var family = family
                for index in family.members.indices {
                    family.members[index].instruments.removeAll { $0.part == part }
                }
                family.members.removeAll { $0.instruments.isEmpty }
                return family
            }
        }
    }

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
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - help: the description.
    ///   - boundsSeconds: the upper bounds of the buckets, ascending.
    ///   - labels: the labels.
    ///   - exemplars: the label of its exemplars; nil if it keeps none.
    /// - Returns: the instrument.
    public func histogram(
        _ name: String, help: String, boundsSeconds: [Double], labels: [Label] = [], exemplars: Exemplar.Label? = nil
    ) -> Histogram {
        let instrument = register(name, help: help, type: "histogram", labels: labels) {
            .histogram(Histogram(boundsSeconds: boundsSeconds, exemplars: exemplars))
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
        let owner = type == "gauge" ? part : Self.process
        return storage.state.withLock { state in
            if state.byName[name] == nil { state.order.append(name) }
            var family = state.byName[name] ?? Family(help: help, type: type)
            precondition(family.type == type, "\(name) is registered as a \(family.type) already")
            defer { state.byName[name] = family }
            guard let index = family.members.firstIndex(where: { $0.labels == labels }) else {
                let instrument = make()
                family.members.append(Member(labels: labels, instruments: [(owner, instrument)]))
                return instrument
            }
            if let own = family.members[index].instruments.first(where: { $0.part == owner }) { return own.instrument }
            let instrument = make()
            family.members[index].instruments.append((owner, instrument))
            return instrument
        }
    }

    /// Writes every metric, families in the order in which they were made.
    ///
    /// - Parameter format: the format, Prometheus' text if none is given.
    /// - Returns: the whole body.
    public func render(_ format: MetricsFormat = .text) -> String {
        let families = storage.state.withLock { state in
            state.order.compactMap { name in state.byName[name].map { (name, $0) } }
        }
        var writer = MetricsWriter(format: format)
        for (name, family) in families where !family.members.isEmpty {
            writer.family(name, type: family.type, help: family.help)
            for member in family.members {
                if case .histogram(let histogram)? = member.instruments.first?.instrument {
                    writer.histogram(name, member.labels, histogram)
                } else {
                    let sum = member.instruments.reduce(0) { $0 + Self.value(of: $1.instrument) }
                    writer.sample(name, member.labels, sum)
                }
            }
        }
        return writer.end()
    }

    private static func value(of instrument: Instrument) -> Double {
        switch instrument {
        case .counter(let counter): Double(counter.value)
        case .gauge(let gauge): Double(gauge.value)
        case .reading(let read): read()
        case .histogram: 0
        }
    }
}
