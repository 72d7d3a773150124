import Foundation
import Testing

@testable import apus_benchmarks

@Suite("Benchmarks: the table of instructions")
struct InstructionTableTests {
    private static let versions = ["swift": "6.3.1", "libc6": "2.36-9"]

    private func table(
        _ figures: [(String, Double, Double)], measuredWith versions: [String: String] = versions
    ) -> InstructionTable {
        InstructionTable(
            measuredWith: versions,
            figures: figures.map { InstructionFigure(part: $0, instructions: $1, allocations: $2) })
    }

    @Test("Up to a percent more is accepted in silence, of instructions as of allocations")
    func tolerance() {
        let known = table([("decode", 10_000, 200)])
        for today in [table([("decode", 10_090, 201.8)]), known, table([("decode", 9_910, 198.2)])] {
            #expect(known.compare(today).message == nil)
        }
    }

    @Test("More than a percent fails, and the message names part, both figures, the percentage and what to do")
    func dearer() throws {
        let known = table([("decode", 10_000, 20), ("render", 500, 3)])
        let comparison = known.compare(table([("decode", 10_110, 20), ("render", 500, 4)]))
        #expect(
            comparison.failures == [
                "decode: 10110 instructions an item, was 10000 (+1.1 %).",
                "render: 4.000 allocations an item, was 3.000 (+33.3 %).",
            ])
        let message = try #require(comparison.message)
        #expect(message.contains("run make bench BENCH_FLAGS='--record instructions'"))
        #expect(message.contains("give the reason in the message of that commit"))
        #expect(!message.contains("depend on the compiler"))
    }

    @Test("Allocations that come once in many items may differ by a twentieth of one an item")
    func rareAllocations() {
        let known = table([("client", 10_000, 0.428)])
        #expect(known.compare(table([("client", 10_000, 0.475)])).message == nil)
        #expect(known.compare(table([("client", 10_000, 0.38)])).message == nil)
        let failures = known.compare(table([("client", 10_000, 0.48)])).failures
        #expect(failures == ["client: 0.480 allocations an item, was 0.428 (+12.1 %)."])
    }

    @Test("Where nothing was allocated, the first allocation fails")
    func firstAllocation() {
        let comparison = table([("decode", 100, 0)]).compare(table([("decode", 100, 0.5)]))
        #expect(comparison.failures == ["decode: 0.500 allocations an item, was 0.000 (new)."])
    }

    @Test("More than a percent less is no failure, and is to be recorded")
    func cheaper() throws {
        let comparison = table([("decode", 10_000, 20)]).compare(table([("decode", 9_890, 20)]))
        #expect(comparison.failures.isEmpty)
        #expect(comparison.gains == ["decode: 9890 instructions an item, was 10000 (-1.1 %)."])
        #expect(try #require(comparison.message).contains("record that, so that it stays"))
    }

    @Test("A part that only one of both has fails")
    func otherParts() {
        let comparison = table([("decode", 1, 1)]).compare(table([("render", 1, 1)]))
        #expect(
            comparison.failures == ["render is not in the table.", "decode is in the table, and was not counted."])
    }

    @Test("A difference is told with the versions that differ, and other versions alone are no news")
    func otherVersions() throws {
        let known = table([("decode", 10_000, 20)])
        let versions = ["swift": "6.4", "libc6": "2.36-9", "valgrind": "3.24"]
        #expect(known.compare(table([("decode", 10_000, 20)], measuredWith: versions)).message == nil)
        let message = try #require(known.compare(table([("decode", 11_000, 20)], measuredWith: versions)).message)
        #expect(message.contains("than are here: swift 6.4, not 6.3.1; valgrind 3.24, not none."))
    }

    @Test("A table comes back from its file as it was written")
    func coding() throws {
        let known = table([("decode", 10_000.4, 20.0004)])
        #expect(known.figures == [InstructionFigure(part: "decode", instructions: 10_000, allocations: 20)])
        #expect(try InstructionTable(known.data, path: "table.json") == known)
    }

    @Test(
        "A file that is no table is refused with its path and the place of the fault",
        arguments: [
            (
                #"{"measuredWith":{},"figures":[{"part":"decode","instructions":1}]}"#,
                ".figures[0] has no \"allocations\""
            ),
            (#"{"measuredWith":{},"figures":[{"part":7,"instructions":1,"allocations":1}]}"#, ".figures[0].part: "),
            (#"{"figures":[]}"#, "it has no \"measuredWith\""), ("{", "not valid JSON"),
        ])
    func faults(text: String, place: String) throws {
        let failure = try #require(throws: BenchmarkFailure.self) {
            try InstructionTable(Data(text.utf8), path: "Benchmarks/instructions.json")
        }
        #expect(failure.description.hasPrefix("Benchmarks/instructions.json is no table of instructions: "))
        #expect(failure.description.contains(place))
        #expect(failure.description.hasSuffix(InstructionTable.recording))
    }
}

@Suite("Benchmarks: files of callgrind")
struct CallgrindProfileTests {
    private static let file = """
        version: 1
        events: Ir

        fn=(1) main
        1 10
        cfn=(2) malloc
        calls=3 0
        1 60
        cfn=(3) $s3app7workersyyF
        calls=2 0
        1 40

        fn=(3)
        1 20
        cfn=(2)
        calls=4 0
        1 80
        cfn=(4) malloc_usable_size
        calls=9 0
        1 9
        cob=(5) libc.so.6
        cfn=(6) calloc
        calls=1 0
        1 8

        totals: 227

        """

    @Test("The instructions of a file are its totals, and its allocations are the calls of allocators alone")
    func counts() throws {
        let profile = try CallgrindProfile(Data(Self.file.utf8))
        #expect(profile.instructions == 227)
        #expect(profile.allocations == 8)
        #expect(profile.hasFunction("3app7workers"))
        #expect(!profile.hasFunction("3app7other"))
    }

    @Test("What counts is what each thread left at its second mark")
    func secondMarks() {
        let files = [
            "callgrind", "callgrind-01", "callgrind.10-04", "callgrind.2-04", "callgrind.1-02", "callgrind.9-02",
        ]
        #expect(CallgrindRun.secondMarks(files + ["callgrind.3-01"]) == ["callgrind.9-02", "callgrind.10-04"])
    }

    @Test("A file that was cut off is refused")
    func cut() {
        #expect(throws: BenchmarkFailure.self) {
            try CallgrindProfile(Data(Self.file.replacing("totals: 227\n", with: "").utf8))
        }
    }

    @Test("The committed table has each figure that is counted")
    func committedTable() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Benchmarks/instructions.json").standardized
        let table = try InstructionTable(Data(contentsOf: file), path: file.path)
        #expect(table.figures.map(\.part) == InstructionPart.allCases.flatMap(\.figures).map(\.name))
    }
}
