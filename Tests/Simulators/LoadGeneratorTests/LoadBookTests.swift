import JSON
import Testing

@testable import LoadGenerator

@Suite("The books of a load, and its reports")
struct LoadBookTests {
    private func book(_ profile: LoadPlan.Profile, devices: Int = 4, audience: Int = 3, warmUp: Double = 0) -> LoadBook
    {
        LoadBook(
            plan: LoadPlan(profile: profile, deviceCount: devices, audience: audience, hasDatasets: true, seed: 1),
            startMicroseconds: 1_000_000, warmUpSeconds: warmUp)
    }

    private func push(_ event: Int, at time: Int64, isAccepted: Bool = true, isRepeated: Bool = false) -> RecordedMark {
        RecordedMark(event: event, timeMicroseconds: time, isAccepted: isAccepted, isRepeated: isRepeated)
    }

    private func result(_ book: LoadBook, unpublished: Int = 0, warnings: [String] = []) -> LoadResult {
        LoadResult(
            book, settings: [("profile", "<one & only>")], measuredSeconds: 2, intendedPerSecond: 10,
            unpublished: unpublished, warnings: warnings)
    }

    @Test("Latency runs from the intended publish, so a late publish counts")
    func latencyFromIntended() {
        var book = book(.oneToOne)
        book.published(intendedMicroseconds: 1_000_000, atMicroseconds: 1_400_000)
        book.confirmed(0, atMicroseconds: 1_450_000)
        book.pushed(push(0, at: 1_500_000))
        #expect(book.publishDelay.maximum == 400_000)
        #expect(book.confirmLatency.maximum == 450_000)
        #expect(book.pushLatency.maximum == 500_000)
        #expect(book.unconfirmedCount == 0 && book.shortfall() == (0, 0))
    }

    @Test("Events of the warm-up are not measured, but their pushes must come too")
    func warmUp() {
        var book = book(.oneToOne, warmUp: 1)
        book.published(intendedMicroseconds: 1_500_000, atMicroseconds: 1_500_000)
        book.published(intendedMicroseconds: 2_000_000, atMicroseconds: 2_000_000)
        book.pushed(push(1, at: 2_000_700))
        #expect(book.pushLatency.count == 1 && book.totals.measured == 1 && book.totals.measuredPushes == 1)
        #expect(book.shortfall() == (1, 0))
        let samples = [2_001_000, 3_000_000].map { book.sample(atMicroseconds: $0, queue: nil) }
        #expect(samples.map(\.isMeasured) == [false, true])
    }

    @Test("A mixed load has a row for each kind, and their counts are that of all")
    func kinds() {
        var book = book(.mixed, devices: 40)
        for number in 0..<300 {
            book.published(intendedMicroseconds: 1_000_000, atMicroseconds: 1_000_000)
            book.pushed(push(number, at: 1_000_500))
        }
        let result = result(book)
        #expect(result.latencyRows.map(\.name).prefix(3) == ["publish to push", "  one-to-one", "  datasets"])
        #expect(result.latencyByKind.reduce(0) { $0 + $1.histogram.count } == book.pushLatency.count)
        #expect(self.result(self.book(.oneToOne)).latencyRows.count == 3)
    }

    @Test("Pushes beyond the expected, repeated identifiers and rejections are counted apart")
    func duplicates() {
        var book = book(.fanOut)
        book.published(intendedMicroseconds: 1_000_000, atMicroseconds: 1_000_000)
        for time in 1...4 { book.pushed(push(0, at: 1_000_000 + Int64(time))) }
        book.pushed(push(0, at: 1_000_009, isRepeated: true))
        book.pushed(push(0, at: 1_000_010, isAccepted: false))
        book.pushed(push(99, at: 1_000_010))
        #expect(book.totals.pushes == 3 && book.totals.duplicatePushes == 2 && book.totals.rejectedPushes == 1)
        #expect(book.shortfall() == (0, 0))
    }

    @Test("Refused and returned events owe no push, and have one outcome each")
    func refusals() {
        var book = book(.oneToOne)
        for _ in 0..<3 { book.published(intendedMicroseconds: 1_000_000, atMicroseconds: 1_000_000) }
        book.failed(0, isReturned: true)
        book.failed(1, isReturned: false)
        book.failed(1, isReturned: false)
        book.confirmed(1, atMicroseconds: 1_000_001)
        #expect(book.totals.returned == 1 && book.totals.refused == 1 && book.totals.confirmed == 0)
        #expect(book.totals.expectedPushes == 1 && book.shortfall() == (1, 0) && book.unconfirmedCount == 1)
        #expect(LoadText.errors(of: result(book)) == "1 events refused, 1 events returned (no queue), 1 pushes missing")
    }

    @Test("An older change of a dataset is coalesced if a newer one of its device has a push")
    func coalescing() {
        var book = book(.datasets, devices: 2)
        for _ in 0..<6 { book.published(intendedMicroseconds: 1_000_000, atMicroseconds: 1_000_000) }
        // Device 0 has the events 0, 2 and 4; device 1 has 1, 3 and 5.
        book.pushed(push(4, at: 1_000_100))
        book.pushed(push(3, at: 1_000_100))
        #expect(book.shortfall() == (1, 3))
        for number in 0..<6 { book.confirmed(number, atMicroseconds: 1_000_200) }
        #expect(!book.isComplete)
        book.pushed(push(5, at: 1_000_300))
        #expect(book.shortfall() == (0, 3) && book.isComplete)
    }

    @Test("A sample has the rates and latencies of its own interval")
    func samples() {
        var book = book(.oneToOne)
        for number in 0..<10 {
            book.published(intendedMicroseconds: 1_000_000, atMicroseconds: 1_000_000)
            book.pushed(push(number, at: 1_000_000 + Int64(number)))
        }
        let first = book.sample(atMicroseconds: 3_000_000, queue: nil)
        let second = book.sample(atMicroseconds: 4_000_000, queue: nil)
        #expect(first.publishedPerSecond == 5 && first.pushedPerSecond == 5 && first.maximum == 9)
        #expect(first.isMeasured && second.isMeasured)
        #expect(second.publishedPerSecond == 0 && second.p99 == 0 && book.samples.count == 2)
    }

    // MARK: Reports

    private func filled() -> LoadResult {
        var book = book(.oneToOne)
        for second in 0..<5 {
            for number in second * 10..<second * 10 + 10 {
                let time = 1_000_000 + Int64(number) * 100_000
                book.published(intendedMicroseconds: time, atMicroseconds: time + 10)
                book.confirmed(number, atMicroseconds: time + 500)
                book.pushed(push(number, at: time + 1_000 + Int64(number) * 100))
            }
            book.sample(
                atMicroseconds: 2_000_000 + Int64(second) * 1_000_000,
                queue: .init(work: second, fanOut: 0, retry: 1, deadLetters: 0, consumers: 2))
        }
        return result(book, warnings: ["a < b"])
    }

    @Test("The report for programs is JSON with every percentile")
    func json() throws {
        let text = String(decoding: LoadJSON.object(of: filled(), nil), as: UTF8.self)
        _ = try JSONParser().parse(Array(text.utf8))
        for (_, name) in LoadResult.shares { #expect(text.contains("\"\(name)\":")) }
        #expect(text.contains(#""push_latency_us":{"p50":"#) && text.contains(#""missing":0"#))
    }

    @Test("The page has its charts, escapes what it is given, and needs no script and no network")
    func page() {
        var search = CapacitySearch(
            firstPerSecond: 10, maximumPerSecond: 20,
            limit: .init(share: 0.99, name: "p99", microseconds: 50_000), precision: 0.1)
        search.measured(.held, microseconds: 4_000)
        search.measured(.failed("p99 was <high>"), microseconds: 80_000)
        let page = LoadPage.html(of: filled(), search)
        #expect(page.ranges(of: "<svg ").count == 5 && page.ranges(of: "</svg>").count == 5)
        for text in ["<script", "http", "url(", "@import", "<high>", "a < b", "<one"] {
            #expect(!page.contains(text), "\(text)")
        }
        #expect(page.contains("p99 was &lt;high&gt;") && page.contains("prefers-color-scheme:dark"))
        #expect(!page.contains("nan") && !page.contains("inf\""))
    }

    @Test("A run without any push has a report as well")
    func emptyReport() {
        let empty = result(book(.oneToOne), unpublished: 7)
        #expect(LoadPage.html(of: empty, nil).contains("7 events never published"))
        #expect(
            LoadText.lines(of: empty).contains { $0.hasPrefix("errors") && $0.contains("7 events never published") })
        #expect(!empty.isComplete)
    }

    @Test("Durations are written with three digits and their unit")
    func durations() {
        let texts: [(UInt64, String)] = [
            (0, "0 µs"), (999, "999 µs"), (1_000, "1.00 ms"), (12_340, "12.3 ms"), (99_960, "100 ms"),
            (4_560_000, "4.56 s"), (3_600_000_000, "3600 s"),
        ]
        for (microseconds, text) in texts { #expect(DurationText.of(microseconds) == text) }
    }
}
