import Foundation
import Testing

@testable import apus_benchmarks

@Suite("Benchmarks: the documents with figures")
struct BenchmarkDocumentTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private let results: [BenchmarkResult]

    init() throws { results = try Report.read(Self.root.appending(path: "Benchmarks/results.json").path) }

    @Test("The committed documents show the committed figures")
    func committedDocuments() throws {
        for (path, make) in BenchmarkDocuments.all {
            let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
            let written = try BenchmarkDocuments.replacing(try make(results), in: text)
            #expect(written == text, "\(path): run make bench BENCH_FLAGS=--documents-only")
        }
    }

    @Test("The short table has at most eight rows, and only the text between the marks is replaced")
    func shortTable() throws {
        let table = try BenchmarkDocuments.summary(results)
        #expect(table.split(separator: "\n").count { $0.hasPrefix("| ") } <= 1 + 8)
        let text = "before\n\(BenchmarkDocuments.begin)\nold\n\(BenchmarkDocuments.end)\nafter\n"
        let written = try BenchmarkDocuments.replacing("new\n", in: text)
        #expect(written == text.replacing("old", with: "new"))
    }

    @Test("A run of one scenario dates its own table, and no other")
    func dates() throws {
        var renewed = results
        for index in renewed.indices where renewed[index].scenario == BenchmarkScenario.outcomes.rawValue {
            (renewed[index].date, renewed[index].commit) = ("2999-12-31", "abcdef12")
        }
        let text = try BenchmarkDocuments.everything(renewed)
        #expect(text.matches(of: /2999-12-31, commit abcdef12/).count == 1)
        #expect(try BenchmarkDocuments.summary(renewed) == BenchmarkDocuments.summary(results))
        #expect(try BenchmarkDocuments.peers(renewed) == BenchmarkDocuments.peers(results))
        #expect(try BenchmarkDocuments.capacity(renewed) == BenchmarkDocuments.capacity(results))
    }

    @Test("A document without marks and a run without a figure are named")
    func refusals() throws {
        #expect(throws: BenchmarkFailure.self) { try BenchmarkDocuments.replacing("", in: BenchmarkDocuments.begin) }
        let failure = try #require(throws: BenchmarkFailure.self) { try BenchmarkDocuments.summary([]) }
        #expect(failure.description == "there are no figures")
        let other = results.filter { $0.name != "pushes_per_second_large_fan_out" }
        let missing = try #require(throws: BenchmarkFailure.self) { try BenchmarkDocuments.summary(other) }
        #expect(missing.description == "there is no figure pushes_per_second_large_fan_out")
    }

    @Test("Every figure is in the document of its scenario, and the bench script lists every scenario")
    func completeness() throws {
        let text = try BenchmarkDocuments.everything(results)
        for result in results { #expect(text.contains("`\(result.name)`"), "\(result.name)") }
        let script = try String(contentsOf: Self.root.appending(path: "deploy/bin/bench"), encoding: .utf8)
        let words = script.split { !$0.isLetter }
        for scenario in BenchmarkScenario.allCases { #expect(words.contains { $0 == scenario.rawValue }) }
    }
}
