/// A format in which Prometheus reads metrics.
public enum MetricsFormat: Hashable, Sendable {
    /// Prometheus' text format 0.0.4.
    case text
    /// OpenMetrics 1.0.0, which also has units and exemplars.
    case openMetrics

    /// The media type of a body in this format.
    public var mediaType: String {
        switch self {
        case .text: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }
}

/// Writes metrics in one of the formats.
struct MetricsWriter {
    /// The units that end names of this program's families.
    private static let units = ["seconds", "bytes"]
    private static let counterSuffix = "_total"

    let format: MetricsFormat
    private var text = ""

    init(format: MetricsFormat) { self.format = format }

    /// The finished body.
    consuming func end() -> String {
        // By this line a reader knows that nothing was cut off.
        if format == .openMetrics { text += "# EOF\n" }
        return text
    }

    /// Begins a family; its samples must follow.
    mutating func family(_ name: String, type: String, help: String) {
        // In OpenMetrics only the sample of a counter has the suffix, and the family has not.
        let isBare = format == .openMetrics && type == "counter" && name.hasSuffix(Self.counterSuffix)
        let family = isBare ? String(name.dropLast(Self.counterSuffix.count)) : name
        text += "# HELP \(family) \(Self.escape(help, quotes: format == .openMetrics))\n# TYPE \(family) \(type)\n"
        guard format == .openMetrics, let unit = Self.units.first(where: { family.hasSuffix("_\($0)") }) else { return }
        text += "# UNIT \(family) \(unit)\n"
    }

    mutating func sample(_ name: String, _ labels: [MetricsRegistry.Label], _ value: String) {
        text += "\(name)\(Self.text(of: labels)) \(value)\n"
    }

    mutating func sample(_ name: String, _ labels: [MetricsRegistry.Label], _ value: Double) {
        sample(name, labels, Self.text(of: value))
    }

    mutating func histogram(_ name: String, _ labels: [MetricsRegistry.Label], _ histogram: Histogram) {
        var cumulated = 0
        // Read before the counts, so that no bucket shows an exemplar that it has not counted.
        let exemplars = format == .openMetrics ? histogram.exemplars : []
        for (index, count) in histogram.bucketCounts.enumerated() {
            cumulated += count
            let bound = index < histogram.boundsSeconds.count ? "\(histogram.boundsSeconds[index])" : "+Inf"
            let exemplar = exemplars.indices.contains(index) ? exemplars[index] : nil
            sample("\(name)_bucket", labels + [.init("le", bound)], "\(cumulated)\(suffix(exemplar, histogram))")
        }
        sample("\(name)_sum", labels, histogram.sumSeconds)
        sample("\(name)_count", labels, "\(cumulated)")
    }

    private func suffix(_ exemplar: Exemplar?, _ histogram: Histogram) -> String {
        guard let exemplar, let label = histogram.exemplarLabel else { return "" }
        var members = [MetricsRegistry.Label(label.name, label.text(exemplar.identifier))]
        if let trace = exemplar.trace {
            members.append(.init("trace_id", Self.digits(trace.traceID.high) + Self.digits(trace.traceID.low)))
            members.append(.init("span_id", Self.digits(trace.spanID)))
        }
        let labels = Self.text(of: members)
        let seconds = Self.text(of: Double(exemplar.nanoseconds) / 1_000_000_000)
        return " # \(labels) \(seconds) \(Self.text(of: Double(exemplar.milliseconds) / 1_000))"
    }

    /// 16 hexadecimal digits.
    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// A number as Prometheus reads it; whole numbers without a fraction.
    private static func text(of value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    private static func text(of labels: [MetricsRegistry.Label]) -> String {
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
