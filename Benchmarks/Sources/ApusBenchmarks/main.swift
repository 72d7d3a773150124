import Dispatch
import EventLoop
import Foundation

// Usage: apus-benchmarks --bare-consumer PATH [--peers FOLDER] [--results FILE]
//        [--documents FOLDER] [--documents-only] [--fan-out-devices COUNT] [--seconds-maximum COUNT]
//        [--mebibytes-maximum COUNT] [--curve PART]… [--far] [--small] [--instruction-table FILE] [--record]
//        [SCENARIO…]
//
// Scenarios: see BenchmarkScenario; all of them if none is named. A whole run rewrites the figures in README.md and
// Benchmarks/figures.md below FOLDER; --documents-only does so from the figures of FILE and measures nothing. With
// --small the counts are small, each scenario only checks that it does what it says, and no figure is kept. With --far
// the curves `devices` and `audience` go on to 10⁷, which takes a quarter of an hour. A scenario that takes more time,
// or whose processes have more memory resident, than it may is ended: --seconds-maximum and --mebibytes-maximum replace
// the limits of BenchmarkScenario. The scenario `instructions` compares its figures with the table FILE; with --record
// it writes the table. Run through `make bench`, which builds what is needed.

do {
    let arguments = try ProcessArguments.words()
    let options = try BenchmarkOptions(arguments)
    if let part = options.instructionPart {
        try part.run(registry: options.instructionRegistry)
        exit(0)
    }
    Task {
        do {
            try await BenchmarkProgram(options: options, arguments: arguments).run()
            exit(0)
        } catch {
            BenchmarkProgram.fail(error)
        }
    }
} catch {
    BenchmarkProgram.fail(error)
}
// Not by `await` out here: then the process above would wait for signals, and valgrind 3.19 does not survive that.
dispatchMain()

/// The scenarios that the command line asks for.
private struct BenchmarkProgram {
    let options: BenchmarkOptions
    let arguments: [String]

    func run() async throws {
        if let scenario = options.scenarioOfProcess {
            let report = Report()
            let bench = try Workbench(options: options)
            try await scenario.run(bench, report)
            if let path = options.resultsPath { try Report.write(report.results, to: path, replacingAll: true) }
            Workbench.removeFolders(of: getpid())
        } else if options.writesDocumentsOnly {
            let results = try options.resultsPath.map(Report.read) ?? []
            try BenchmarkDocuments.write(results, in: options.documentsFolder ?? ".")
        } else {
            try await runScenarios()
        }
    }

    private func runScenarios() async throws {
        let commit = await Machine.commit()
        Report.show("\(Machine.description); commit \(commit); \(Machine.date)\n\(Report.header)")
        let (results, failures) = await ScenarioSupervisor(options: options, arguments: arguments, commit: commit).run()
        let kept = results.filter { $0.scenario.flatMap(BenchmarkScenario.init)?.keepsResults != false }
        if let path = options.resultsPath, !Scale.isSmall, !kept.isEmpty {
            let isWhole = options.isWhole && failures.isEmpty
            try Report.write(kept, to: path, replacingAll: isWhole)
            if isWhole, let folder = options.documentsFolder { try BenchmarkDocuments.write(kept, in: folder) }
        }
        guard failures.isEmpty else {
            throw BenchmarkFailure(description: "failed: \(failures.joined(separator: ", "))")
        }
    }

    static func fail(_ error: any Error) -> Never {
        FileHandle.standardError.write(Data("apus-benchmarks: \(error)\n".utf8))
        exit(70)
    }
}
