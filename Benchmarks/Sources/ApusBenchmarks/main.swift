import EventLoop
import Foundation

// Usage: apus-benchmarks --bare-consumer PATH [--peers FOLDER] [--results FILE]
//        [--documents FOLDER] [--documents-only] [--fan-out-devices COUNT] [--seconds-maximum COUNT]
//        [--mebibytes-maximum COUNT] [--curve PART]… [--far] [--small] [SCENARIO…]
//
// Scenarios: see BenchmarkScenario; all of them if none is named. A whole run rewrites the figures in README.md and
// Benchmarks/README.md below FOLDER; --documents-only does so from the figures of FILE and measures nothing. With
// --small the counts are small, each scenario only checks that it does what it says, and no figure is kept. With --far
// the curves `devices` and `audience` go on to 10⁷, which takes a quarter of an hour. A scenario that takes more time,
// or whose processes have more memory resident, than it may is ended: --seconds-maximum and --mebibytes-maximum replace
// the limits of BenchmarkScenario. Run through `make bench`, which builds what is needed.

do {
    let arguments = try ProcessArguments.words()
    let options = try BenchmarkOptions(arguments)
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
        let commit = await Machine.commit()
        Report.show("\(Machine.description); commit \(commit); \(Machine.date)\n\(Report.header)")
        let (results, failures) = await ScenarioSupervisor(options: options, arguments: arguments, commit: commit).run()
        if let path = options.resultsPath, !Scale.isSmall {
            let isWhole = options.isWhole && failures.isEmpty
            try Report.write(results, to: path, replacingAll: isWhole)
            if isWhole, let folder = options.documentsFolder { try BenchmarkDocuments.write(results, in: folder) }
        }
        guard failures.isEmpty else {
            throw BenchmarkFailure(description: "failed: \(failures.joined(separator: ", "))")
        }
    }
} catch {
    FileHandle.standardError.write(Data("apus-benchmarks: \(error)\n".utf8))
    exit(70)
}
