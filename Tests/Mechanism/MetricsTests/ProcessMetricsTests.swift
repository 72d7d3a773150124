import Glibc
import Metrics
import Testing

@Suite("Process metrics")
struct ProcessMetricsTests {
    private func values() -> [String: Double] {
        let registry = MetricsRegistry()
        ProcessMetrics.register(in: registry, product: "apus", version: "1.2.3")
        var values: [String: Double] = [:]
        for line in registry.render().split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.split(separator: " ")
            values[String(fields[0])] = fields.last.flatMap { Double($0) }
        }
        return values
    }

    @Test("They are what this process has")
    func theyAreWhatThisProcessHas() throws {
        let values = values()
        #expect(values[#"apus_build_info{version="1.2.3"}"#] == 1)
        #expect(try #require(values["process_cpu_seconds_total"]) > 0)
        #expect(try #require(values["process_resident_memory_bytes"]) > 1_000_000)
        let descriptors = try #require(values["process_open_fds"])
        #expect(descriptors >= 3)
        #expect(try #require(values["process_max_fds"]) >= descriptors)
        let start = try #require(values["process_start_time_seconds"])
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        #expect(start > 1_600_000_000)
        #expect(start <= Double(now.tv_sec) + 1)
    }

    @Test("An open file counts")
    func anOpenFileCounts() throws {
        let before = try #require(values()["process_open_fds"])
        // Many, so that what other tests close meanwhile does not matter.
        let descriptors = (0..<200).map { _ in dup(STDERR_FILENO) }
        defer { for descriptor in descriptors { close(descriptor) } }
        #expect(try #require(values()["process_open_fds"]) > before + 100)
    }
}
