import Foundation
import PushTestKit

/// Counts what an item of each part costs, and compares it with the committed table.
struct InstructionScenario {
    let bench: Workbench
    let report: Report

    func run() async throws {
        let registry = bench.folder + "/instructions.db"
        try InstructionRegistry.make(at: registry)
        let path = bench.options.instructionTablePath
        let known = try path.flatMap { path in
            FileManager.default.fileExists(atPath: path)
                ? try InstructionTable(Data(contentsOf: URL(fileURLWithPath: path)), path: path) : nil
        }
        let program = try await CallgrindRun.strippedProgram(in: bench.temporary)
        var figures: [InstructionFigure] = []
        for part in InstructionPart.allCases {
            let run = CallgrindRun(part: part, program: program, registry: registry)
            guard !Scale.isSmall else {
                try await run.trial()
                report.add("items_\(part.rawValue)", Double(part.counts.counted), "")
                continue
            }
            for figure in try await run.figures() {
                figures.append(figure)
                show(figure, known: known?.figures.first { $0.part == figure.part })
            }
        }
        guard !Scale.isSmall else { return }
        let today = InstructionTable(measuredWith: try await InstructionVersions.read(bench), figures: figures)
        if bench.options.recordsInstructions, let path {
            try today.data.write(to: URL(fileURLWithPath: path))
        } else if let known {
            let comparison = known.compare(today)
            if !comparison.failures.isEmpty { throw BenchmarkFailure(description: comparison.message ?? "") }
            if let message = comparison.message { Report.show(message) }
        } else if let path {
            throw BenchmarkFailure(description: "\(path) is missing: \(InstructionTable.recording) writes it")
        }
    }

    private func show(_ figure: InstructionFigure, known: InstructionFigure?) {
        report.add(
            "instructions_per_item_\(figure.part)", figure.instructions, "", reference: known?.instructions,
            budget: known.map { _ in .ratioAtMost(1 + InstructionTable.tolerance) })
        report.add(
            "allocations_per_item_\(figure.part)", figure.allocations, "", reference: known?.allocations,
            budget: known.map { .valueAtMost(InstructionTable.allocationsMaximum($0)) })
    }
}

/// The versions that the count of instructions depends on.
enum InstructionVersions {
    /// The packages of Debian whose code the parts run, and valgrind, which shows the C library a processor.
    private static let packages = [
        "libc6", "libstdc++6", "libssl3*", "libnghttp2-14", "libsqlite3-0", "libsimdjson[0-9]*", "valgrind",
    ]

    /// Asks the compiler and Debian.
    ///
    /// - Returns: versions by name; a system that is no Debian names the compiler and the processor alone.
    static func read(_ bench: Workbench) async throws -> [String: String] {
        var versions = ["processor": processor]
        let swift = try await bench.run("/usr/bin/env", ["swift", "--version"])
        versions["swift"] = swift.output.firstMatch(of: /Swift version ([^ ]+)/).map { String($0.1) } ?? "unknown"
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/dpkg-query") else { return versions }
        let format = "--showformat=${db:Status-Status} ${Package} ${Version}\n"
        let listed = try await bench.run("/usr/bin/dpkg-query", ["--show", format] + packages)
        for line in listed.output.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 3, words[0] == "installed" { versions[String(words[1])] = String(words[2]) }
        }
        return versions
    }

    /// The kind of processor, as far as valgrind shows it to a program.
    private static var processor: String {
        var system = utsname()
        uname(&system)
        let kind = withUnsafeBytes(of: system.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let flags = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        return kind + (flags.contains(" avx2 ") ? " with AVX2" : "")
    }
}
