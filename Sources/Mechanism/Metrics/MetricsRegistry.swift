import Synchronization

/// All metrics of one process, and their text for Prometheus.
///
/// Metrics are made once, at start. The same name and labels give the same instrument. A series shows as 0 before its
/// first event, unless there is one for each app: then `Appearance` says when.
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

    /// When a series is shown.
    ///
    /// Hundreds of apps times every label would be more than a scrape can carry, and nearly all of it zeros.
    public enum Appearance: Sendable {
        /// Always.
        case always
        /// From the first scrape on that finds another value than 0.
        ///
        /// For counters, and for gauges whose least value within a time is asked for.
        case onceUsed
        /// In scrapes that find another value than 0: for gauges that are 0 while all is well.
        case unlessZero
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
            for name in state.order { state.byName[name]?.remove(part: part) }
        }
    }

    /// A counter; its name ends in `_total`.
    public func counter(
        _ name: String, help: String, labels: [Label] = [], appears appearance: Appearance = .always
    ) -> Counter {
        let instrument = register(name, help: help, type: "counter", labels: labels, appearance) {
            .counter(Counter())
        }
        guard case .counter(let counter) = instrument else { preconditionFailure("\(name) is not a counter") }
        return counter
    }

    /// A gauge.
    public func gauge(
        _ name: String, help: String, labels: [Label] = [], appears appearance: Appearance = .always
    ) -> Gauge {
        let instrument = register(name, help: help, type: "gauge", labels: labels, appearance) { .gauge(Gauge()) }
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
    ///   - appearance: when its series are shown.
    /// - Returns: the instrument.
    public func histogram(
        _ name: String, help: String, boundsSeconds: [Double], labels: [Label] = [], exemplars: Exemplar.Label? = nil,
        appears appearance: Appearance = .always
    ) -> Histogram {
        let instrument = register(name, help: help, type: "histogram", labels: labels, appearance) {
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
        _ name: String, help: String, type: String, labels: [Label], _ appearance: Appearance = .always,
        make: () -> Instrument
    ) -> Instrument {
        let owner = type == "gauge" ? part : Self.process
        return storage.state.withLock { state in
            if state.byName[name] == nil { state.order.append(name) }
            precondition(
                state.byName[name].map { $0.type == type } ?? true, "\(name) is registered as another type already")
            return state.byName[name, default: Family(help: help, type: type)]
                .instrument(of: owner, labels, appearance, make: make)
        }
    }

    /// Writes the metrics, families in the order in which they were made.
    ///
    /// - Parameters:
    ///   - format: the format, Prometheus' text if none is given.
    ///   - isComplete: whether series are written as well that do not appear yet, for documents.
    /// - Returns: the whole body.
    public func render(_ format: MetricsFormat = .text, isComplete: Bool = false) -> String {
        let families = storage.state.withLock { state in
            state.order.compactMap { name in state.byName[name].map { (name, $0) } }
        }
        var writer = MetricsWriter(format: format)
        var used: [(name: String, labels: [Label])] = []
        for (name, family) in families {
            var isBegun = false
            for member in family.members {
                let value = member.value
                if value != 0, member.appearance == .onceUsed, !member.isUsed { used.append((name, member.labels)) }
                guard value != 0 || member.appearance == .always || member.isUsed || isComplete else { continue }
                if !isBegun { writer.family(name, type: family.type, help: family.help) }
                isBegun = true
                if case .histogram(let histogram)? = member.instruments.first?.instrument {
                    writer.histogram(name, member.labels, histogram)
                } else {
                    writer.sample(name, member.labels, value)
                }
            }
        }
        if !used.isEmpty { note(used) }
        return writer.end()
    }

    /// Shows series from now on.
    private func note(_ used: [(name: String, labels: [Label])]) {
        storage.state.withLock { state in
            for (name, labels) in used {
                guard let place = state.byName[name]?.places[labels] else { continue }
                state.byName[name]?.members[place].isUsed = true
            }
        }
    }
}

extension MetricsRegistry {
    private enum Instrument: Sendable {
        case counter(Counter)
        case gauge(Gauge)
        case histogram(Histogram)
        case reading(@Sendable () -> Double)

        /// The number to show; of a histogram, how many durations it has counted.
        var value: Double {
            switch self {
            case .counter(let counter): Double(counter.value)
            case .gauge(let gauge): Double(gauge.value)
            case .reading(let read): read()
            case .histogram(let histogram): Double(histogram.bucketCounts.reduce(0, +))
            }
        }
    }

    /// One series, or those of one histogram.
    private struct Member: Sendable {
        let labels: [Label]
        let appearance: Appearance
        /// Whether a scrape has found another value than 0.
        var isUsed = false
        /// One for each part that has a gauge of this name and these labels; the sum is shown.
        var instruments: [(part: Int, instrument: Instrument)] = []

        var value: Double { instruments.reduce(0) { $0 + $1.instrument.value } }
    }

    /// All series of one name.
    private struct Family: Sendable {
        let help: String
        let type: String
        var members: [Member] = []
        /// The members by their labels.
        var places: [[Label]: Int] = [:]

        /// The instrument of a part with these labels, which is made if there is none.
        mutating func instrument(
            of part: Int, _ labels: [Label], _ appearance: Appearance, make: () -> Instrument
        ) -> Instrument {
            let place = places[labels] ?? members.count
            if place == members.count {
                places[labels] = place
                members.append(Member(labels: labels, appearance: appearance))
            }
            if let own = members[place].instruments.first(where: { $0.part == part }) { return own.instrument }
            let instrument = make()
            members[place].instruments.append((part, instrument))
            return instrument
        }

        /// Removes the gauges of a part, and members that have no other.
        mutating func remove(part: Int) {
            for index in members.indices { members[index].instruments.removeAll { $0.part == part } }
            guard members.contains(where: { $0.instruments.isEmpty }) else { return }
            members.removeAll { $0.instruments.isEmpty }
            places = Dictionary(uniqueKeysWithValues: members.enumerated().map { ($1.labels, $0) })
        }
    }
}
