import Testing

@testable import apus_benchmarks

@Suite("Benchmarks: the table of the libraries of others")
struct LibrariesTableTests {
    @Test("The table has a line for our client and one for the library, and dashes where nothing was measured")
    func lines() {
        let lines = LibrariesReport.table(of: []).split(separator: "\n")
        #expect(lines.count == 2 + 2 * SenderLibrary.allCases.count)
        #expect(lines[2] == "| FCM | **Apus**, its client | — | — |  |")
        #expect(lines[3] == "|  | firebase-admin (Python, httpx, HTTP/2) | — | — | — |")
    }

    @Test("Each figure stands beside the other's, and the table says how many times our time the library takes")
    func figures() throws {
        let report = Report()
        LibrariesReport(report: report).add(
            .pywebpush, ours: [LoadTool.Figures(perSecond: 18_000, microseconds: 50)],
            theirs: [LoadTool.Figures(perSecond: 900, microseconds: 1_000)])
        let lines = LibrariesReport.table(of: report.results).split(separator: "\n")
        #expect(lines[4] == "| Web Push | **Apus**, its client | 18 000 | 50.0 |  |")
        #expect(lines[5] == "|  | pywebpush (Python, aiohttp, HTTP/1.1) | 900 | 1 000 | 20 × |")
        let ratios = Dictionary(uniqueKeysWithValues: report.results.map { ($0.name, $0.ratio) })
        #expect(ratios["pushes_per_second_libraries_webpush_apus"] == 20)
        #expect(ratios["cpu_per_push_libraries_webpush_pywebpush"] == 20)
    }
}
