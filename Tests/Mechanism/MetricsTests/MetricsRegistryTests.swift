import Metrics
import Testing

@Suite("Metrics as text")
struct MetricsRegistryTests {
    @Test("Counters and gauges are rendered with help, type and labels, in the order in which they were made")
    func countersAndGauges() {
        let registry = MetricsRegistry()
        let pushes = registry.counter("pushes_total", help: "Pushes.", labels: [.init("app", "a"), .init("kind", "x")])
        registry.gauge("depth", help: "Depth.").set(-3)
        pushes.add()
        pushes.add(41)
        #expect(
            registry.render() == """
                # HELP pushes_total Pushes.
                # TYPE pushes_total counter
                pushes_total{app="a",kind="x"} 42
                # HELP depth Depth.
                # TYPE depth gauge
                depth -3

                """)
    }

    @Test("The same name and labels give the same instrument, other labels another of the same family")
    func sameInstrument() {
        let registry = MetricsRegistry()
        registry.counter("c_total", help: "C.", labels: [.init("a", "1")]).add()
        registry.counter("c_total", help: "C.", labels: [.init("a", "1")]).add()
        registry.counter("c_total", help: "C.", labels: [.init("a", "2")]).add()
        #expect(registry.counter("c_total", help: "C.", labels: [.init("a", "1")]).value == 2)
        #expect(registry.render().split(separator: "\n").filter { $0.hasPrefix("# TYPE") }.count == 1)
    }

    @Test("A part's counters are the process's, its gauges are added to those of other parts and go with it")
    func parts() {
        let registry = MetricsRegistry()
        let old = registry.makePart()
        let new = registry.makePart()
        old.counter("c_total", help: "C.").add(2)
        new.counter("c_total", help: "C.").add(3)
        old.gauge("g", help: "G.").set(10)
        new.gauge("g", help: "G.").set(7)
        old.gauge("of_old", help: "O.", labels: [.init("app", "gone")]).set(1)
        #expect(registry.render().contains("c_total 5\n"))
        #expect(registry.render().contains("\ng 17\n"))
        old.end()
        #expect(registry.render().contains("c_total 5\n"))
        #expect(registry.render().contains("\ng 7\n"))
        #expect(!registry.render().contains("of_old"))
    }

    @Test("What would break a line is escaped in help texts and label values")
    func escaping() {
        let registry = MetricsRegistry()
        registry.gauge("g", help: "a\\b\nc\"d", labels: [.init("l", "a\\b\nc\"d")]).set(1)
        #expect(
            registry.render() == """
                # HELP g a\\\\b\\nc"d
                # TYPE g gauge
                g{l="a\\\\b\\nc\\"d"} 1

                """)
    }

    @Test("A histogram's buckets are cumulated, and its count is that of the last")
    func histogram() {
        let registry = MetricsRegistry()
        let histogram = registry.histogram("h_seconds", help: "H.", boundsSeconds: [0.001, 1])
        for nanoseconds in [0, 1_000_000, 1_000_001, 1_000_000_000, 5_000_000_000] as [UInt64] {
            histogram.observe(nanoseconds: nanoseconds)
        }
        #expect(
            registry.render() == """
                # HELP h_seconds H.
                # TYPE h_seconds histogram
                h_seconds_bucket{le="0.001"} 2
                h_seconds_bucket{le="1.0"} 4
                h_seconds_bucket{le="+Inf"} 5
                h_seconds_sum 6.002000001
                h_seconds_count 5

                """)
    }

    @Test("A series may appear with its first value above 0, and stays; that of a state goes with it")
    func appearance() {
        let registry = MetricsRegistry()
        let waiting = registry.gauge("waiting", help: "W.", labels: [.init("app", "a")], appears: .onceUsed)
        let slow = registry.gauge("slow", help: "S.", labels: [.init("app", "a")], appears: .unlessZero)
        let failed = registry.counter("failed_total", help: "F.", appears: .onceUsed)
        let histogram = registry.histogram("h_seconds", help: "H.", boundsSeconds: [1], appears: .onceUsed)
        #expect(registry.render() == "")
        #expect(registry.render(isComplete: true).contains("\nfailed_total 0\n"))
        waiting.set(3)
        slow.set(1)
        failed.add()
        histogram.observe(nanoseconds: 1)
        for text in ["waiting{app=\"a\"} 3\n", "slow{app=\"a\"} 1\n", "failed_total 1\n", "h_seconds_count 1\n"] {
            #expect(registry.render().contains(text))
        }
        waiting.set(0)
        slow.set(0)
        #expect(registry.render().contains("waiting{app=\"a\"} 0\n"), "its least value within a time is 0")
        #expect(!registry.render().contains("slow"))
    }

    @Test("The series of hundreds of apps are found again by their labels, also after a part has ended")
    func manySeries() {
        let registry = MetricsRegistry()
        let parts = (registry.makePart(), registry.makePart())
        for app in 0..<300 {
            parts.0.gauge("g", help: "G.", labels: [.init("app", "\(app)")]).set(1)
            if !app.isMultiple(of: 3) { parts.1.gauge("g", help: "G.", labels: [.init("app", "\(app)")]).set(2) }
        }
        parts.0.end()
        for app in 0..<300 { parts.1.gauge("g", help: "G.", labels: [.init("app", "\(app)")]).add(5) }
        let lines = registry.render().split(separator: "\n").dropFirst(2)
        #expect(lines.count == 300)
        for app in 0..<300 {
            #expect(lines.contains("g{app=\"\(app)\"} \(app.isMultiple(of: 3) ? 5 : 7)"))
        }
    }

    @Test("Readings are taken when the metrics are rendered")
    func readings() {
        let registry = MetricsRegistry()
        let source = registry.counter("source_total", help: "S.")
        registry.gauge("whole", help: "W.") { Double(source.value) }
        registry.counter("fraction_total", help: "F.") { 0.25 }
        registry.gauge("odd", help: "O.", labels: [.init("k", "nan")]) { .nan }
        registry.gauge("odd", help: "O.", labels: [.init("k", "infinite")]) { -.infinity }
        source.add(7)
        let lines = registry.render().split(separator: "\n")
        #expect(lines.contains("whole 7"))
        #expect(lines.contains("fraction_total 0.25"))
        #expect(lines.contains(#"odd{k="nan"} NaN"#))
        #expect(lines.contains(#"odd{k="infinite"} -Inf"#))
    }

    @Test("No count is lost when many threads add at once")
    func threads() async {
        let registry = MetricsRegistry()
        let counter = registry.counter("c_total", help: "C.")
        let histogram = registry.histogram("h_seconds", help: "H.", boundsSeconds: [1])
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<10_000 {
                        counter.add()
                        histogram.observe(nanoseconds: 5)
                    }
                }
            }
        }
        #expect(counter.value == 80_000)
        #expect(histogram.bucketCounts == [80_000, 0])
    }
}
