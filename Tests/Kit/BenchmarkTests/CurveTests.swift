import Foundation
import PushTestKit
import Testing

@testable import apus_benchmarks

@Suite("Benchmarks: curves")
struct CurveTests {
    private static let curve = Curve(
        name: "test", title: "Cost <of> \"it\"", xTitle: "things, many", yTitle: "time, µs",
        series: [
            .init(name: "one", points: [.init(x: 1, y: 2.5), .init(x: 1_000, y: 40)]),
            .init(name: "two", points: [.init(x: 0, y: 3), .init(x: 1_000, y: 12_345.678)]),
        ])

    @Test("The CSV has a line for each quantity, and an empty cell where a series has no point")
    func csv() {
        #expect(
            Self.curve.csv == """
                "things, many","one: time, µs","two: time, µs"
                0,,3
                1,2.5,
                1000,40,12346

                """)
    }

    @Test("Numbers of axes are short")
    func shortNumbers() {
        let texts = [0.25, 1, 200, 1_000, 25_000, 1_000_000, 2e9].map(CurveNumber.short)
        #expect(texts == ["0.25", "1", "200", "1k", "25k", "1M", "2G"])
    }

    @Test("A value and a larger one lie on the axis in this order, all of them between its ends")
    func placesGrow() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<500 {
            let scale = Double.random(in: 1e-6...1e9, using: &random)
            let values = (0..<5).map { _ in Double.random(in: 0.001...1, using: &random) * scale }.sorted()
            for isLogarithmic in [true, false] {
                let axis = CurveAxis(values, isLogarithmic: isLogarithmic)
                let places = try values.map { try #require(axis.place($0)) }
                #expect(places == places.sorted(), "\(values)")
                #expect(places.allSatisfy { $0 >= -1e-5 && $0 <= 1 + 1e-5 }, "\(values)")
                #expect((2...12).contains(axis.marks.count), "\(values): \(axis.marks)")
            }
        }
    }

    @Test("A logarithmic axis has no place for zero, and one without values still has marks")
    func borders() {
        let axis = CurveAxis([0, 10, 100], isLogarithmic: true)
        #expect(axis.place(0) == nil)
        #expect(axis.marks.first == 10)
        #expect(!CurveAxis([], isLogarithmic: true).marks.isEmpty)
        #expect(!CurveAxis([0], isLogarithmic: false).marks.isEmpty)
    }

    @Test("The chart escapes its texts, has a line for each series, and both schemes of colour")
    func chart() {
        let svg = CurveChart(Self.curve).svg
        #expect(svg.contains("Cost &lt;of> &quot;it&quot;"))
        #expect(svg.ranges(of: "<polyline").count == 2)
        // Three points, because a logarithmic axis leaves out the zero, and two in the legend.
        #expect(svg.ranges(of: "<circle").count == 3 + 2)
        #expect(svg.contains("prefers-color-scheme:dark"))
    }

    @Test("The scenario measures named curves alone, and refuses others", .timeLimit(.minutes(2)))
    func namedCurves() async throws {
        let program = CommandRunner.path(of: "apus-benchmarks")
        func run(_ curve: String) async throws -> CommandResult {
            let words = ["--small", "--curve", curve, "curves"]
            return await (try RunningCommand(program: program, words, in: TemporaryFolder())).end()
        }
        let end = try await run("subscriptions")
        #expect(end.exitCode == 0, "\(end.errors)")
        #expect(end.output.contains("curve_subscriptions_memory_index_from_1k_to_5k"))
        #expect(!end.output.contains("curve_payload"))
        let refused = try await run("weather")
        #expect(refused.exitCode == 70)
        #expect(refused.errors.contains("--curve takes one of: payload, distance,"))
    }
}
