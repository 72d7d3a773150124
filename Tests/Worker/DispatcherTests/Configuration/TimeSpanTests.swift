import Testing
import WorkerConfiguration

@Suite("Lengths of time")
struct TimeSpanTests {
    @Test(
        "A number and a unit are read, and written in the largest unit that is exact",
        arguments: [
            ("0s", 0, "0s"), ("500ms", 500, "500ms"), ("1000ms", 1_000, "1s"), ("90s", 90_000, "90s"),
            ("120s", 120_000, "2m"), ("15m", 900_000, "15m"), ("60m", 3_600_000, "1h"), ("24h", 86_400_000, "24h"),
        ])
    func readAndWritten(text: String, milliseconds: Int, written: String) throws {
        let span = try #require(TimeSpan(text))
        #expect(span.milliseconds == milliseconds)
        #expect(span.description == written)
        #expect(TimeSpan(written) == span)
        #expect(span.nanoseconds == UInt64(milliseconds) * 1_000_000)
    }

    @Test(
        "Anything else is refused",
        arguments: [
            "", "5", "s", "1 s", "-1s", "+1s", "1.5s", "1d", "1H", "1s ", "٣s", "9999999999999999999s", "9999999h",
        ])
    func refused(text: String) { #expect(TimeSpan(text) == nil) }
}
