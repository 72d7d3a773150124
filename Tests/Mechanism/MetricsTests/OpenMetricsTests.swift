import Metrics
import Testing

@Suite("Metrics in OpenMetrics")
struct OpenMetricsTests {
    private static let label = Exemplar.Label("id") { "\($0.high)-\($0.low)" }

    @Test("A counter's family has no suffix, units follow from names, quotes in help are escaped, and an end is there")
    func families() {
        let registry = MetricsRegistry()
        registry.counter("pushes_total", help: "All \"pushes\".", labels: [.init("app", "a")]).add(2)
        registry.counter("cpu_seconds_total", help: "Time.") { 1.5 }
        registry.gauge("memory_bytes", help: "Memory.").set(7)
        #expect(
            registry.render(.openMetrics) == """
                # HELP pushes All \\"pushes\\".
                # TYPE pushes counter
                pushes_total{app="a"} 2
                # HELP cpu_seconds Time.
                # TYPE cpu_seconds counter
                # UNIT cpu_seconds seconds
                cpu_seconds_total 1.5
                # HELP memory_bytes Memory.
                # TYPE memory_bytes gauge
                # UNIT memory_bytes bytes
                memory_bytes 7
                # EOF

                """)
    }

    @Test("Each bucket of a histogram shows its exemplar with value and time, and text shows none")
    func exemplars() {
        let registry = MetricsRegistry()
        let histogram = registry.histogram(
            "h_seconds", help: "H.", boundsSeconds: [0.001, 1], exemplars: Self.label)
        histogram.observe(nanoseconds: 1_000_000, of: .init(high: 1, low: 2), atMilliseconds: 1_700_000_000_250)
        histogram.observe(nanoseconds: 5_000_000_000, of: .init(high: 3, low: 4), atMilliseconds: 1_700_000_001_000)
        #expect(
            registry.render(.openMetrics) == """
                # HELP h_seconds H.
                # TYPE h_seconds histogram
                # UNIT h_seconds seconds
                h_seconds_bucket{le="0.001"} 1 # {id="1-2"} 0.001 1700000000.25
                h_seconds_bucket{le="1.0"} 1
                h_seconds_bucket{le="+Inf"} 2 # {id="3-4"} 5 1700000001
                h_seconds_sum 5.001
                h_seconds_count 2
                # EOF

                """)
        #expect(!registry.render().contains("id="))
    }

    @Test("An exemplar stays for a second, and a clock that was set back does not keep it for longer")
    func lifetime() {
        let histogram = MetricsRegistry().histogram(
            "h_seconds", help: "H.", boundsSeconds: [1], exemplars: Self.label)
        func observe(_ low: UInt64, at milliseconds: Int64) -> UInt64? {
            histogram.observe(nanoseconds: low, of: .init(high: 0, low: low), atMilliseconds: milliseconds)
            return histogram.exemplars[0]?.identifier.low
        }
        #expect(observe(1, at: 10_000) == 1)
        #expect(observe(2, at: 10_999) == 1)
        #expect(observe(3, at: 11_000) == 3)
        #expect(observe(4, at: 5_000) == 4)
        #expect(histogram.bucketCounts == [4, 0])
    }

    @Test("An exemplar of a recorded span names it, replaces one without at once, and outlives those without")
    func traces() {
        let registry = MetricsRegistry()
        let histogram = registry.histogram("h_seconds", help: "H.", boundsSeconds: [1], exemplars: Self.label)
        let trace = Exemplar.Trace(traceID: .init(high: 0xab, low: .max), spanID: 0x0123_4567)
        func observe(_ low: UInt64, in trace: Exemplar.Trace? = nil, at milliseconds: Int64) -> UInt64? {
            histogram.observe(
                nanoseconds: 1_000_000, of: .init(high: 0, low: low), in: trace, atMilliseconds: milliseconds)
            return histogram.exemplars[0]?.identifier.low
        }
        #expect(observe(1, at: 10_000) == 1)
        #expect(observe(2, in: trace, at: 10_001) == 2)
        #expect(
            registry.render(.openMetrics).contains(
                "h_seconds_bucket{le=\"1.0\"} 2 # {id=\"0-2\",trace_id=\"00000000000000abffffffffffffffff\","
                    + "span_id=\"0000000001234567\"} 0.001 10.001\n"))
        #expect(observe(3, in: trace, at: 11_000) == 2)
        #expect(observe(4, at: 70_000) == 2)
        #expect(observe(5, in: trace, at: 70_001) == 5)
        #expect(observe(6, at: 130_001) == 6)
        #expect(histogram.exemplars[0]?.trace == nil)
    }

    @Test("A histogram without a label keeps no exemplars, and one that has seen nothing has none")
    func without() {
        let registry = MetricsRegistry()
        let plain = registry.histogram("plain_seconds", help: "P.", boundsSeconds: [1])
        plain.observe(nanoseconds: 5, of: .init(high: 1, low: 2), atMilliseconds: 10_000)
        #expect(plain.exemplars == [nil, nil] && plain.bucketCounts == [1, 0])
        _ = registry.histogram("h_seconds", help: "H.", boundsSeconds: [1], exemplars: Self.label)
        #expect(!registry.render(.openMetrics).contains(" # "))
    }

    @Test("A reader never sees halves of two exemplars while several threads replace them")
    func torn() async {
        let histogram = MetricsRegistry().histogram(
            "h_seconds", help: "H.", boundsSeconds: [1], exemplars: Self.label)
        await withTaskGroup { group in
            for writer in 0..<4 as Range<UInt64> {
                group.addTask {
                    for step in 1...20_000 as ClosedRange<UInt64> {
                        let number = 4 * step + writer
                        // Each observation is due, and its parts are the same number.
                        let identifier = Exemplar.Identifier(high: number, low: number)
                        histogram.observe(
                            nanoseconds: number, of: identifier, in: .init(traceID: identifier, spanID: number),
                            atMilliseconds: Int64(number) * 1_000)
                    }
                }
            }
            group.addTask {
                for _ in 0..<20_000 {
                    guard let exemplar = histogram.exemplars[0] else { continue }
                    let isWhole =
                        exemplar.identifier.high == exemplar.identifier.low
                        && exemplar.nanoseconds == exemplar.identifier.low
                        && exemplar.trace?.traceID == exemplar.identifier
                        && exemplar.trace?.spanID == exemplar.nanoseconds
                        && exemplar.milliseconds == Int64(exemplar.nanoseconds) * 1_000
                    #expect(isWhole)
                }
            }
        }
        #expect(histogram.bucketCounts == [80_000, 0] && histogram.exemplars[0] != nil)
    }
}
