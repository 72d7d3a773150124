import Foundation

// Usage: apus-benchmarks --apus PATH --bare-consumer PATH [--peer-python PATH --peer-script PATH] [--results FILE]
//        [--fan-out-devices COUNT] [SCENARIO…]
//
// Scenarios: client, distance, peer, allocations, micro, matching, pipeline, subscriptions, worker, replicas, queues,
// latency, fanout, fairness, isolation, memory; all of them if none is named. Run through `make bench`, which builds
// what is needed first.

do {
    let options = try BenchmarkOptions(Array(CommandLine.arguments.dropFirst()))
    let report = Report()
    Report.show("\(Machine.description); commit \(Machine.commit); \(Machine.date)\n\(Report.header)")
    let bench = try Workbench(options: options)
    if options.wants("client") { try await ClientScenario(bench: bench, report: report).run() }
    if options.wants("distance") { try await DistanceScenario(bench: bench, report: report).run() }
    if options.wants("peer") { try await PeerScenario(bench: bench, report: report).run() }
    if options.wants("allocations") { try await AllocationScenario(bench: bench, report: report).run() }
    if options.wants("micro") { try MicroScenario(bench: bench, report: report).run() }
    if options.wants("matching") { try MatchingScenario(report: report).run() }
    if options.wants("pipeline") { try await PipelineScenario(bench: bench, report: report).run() }
    if options.wants("subscriptions") { try await SubscriptionScenario(bench: bench, report: report).run() }
    if options.wants("worker") { try await WorkerScenario(bench: bench, report: report).run() }
    if options.wants("replicas") { try await ReplicaScenario(bench: bench, report: report).run() }
    if options.wants("queues") { try await QueueScenario(bench: bench, report: report).run() }
    if options.wants("latency") { try await LatencyScenario(bench: bench, report: report).run() }
    if options.wants("fanout") { try await FanOutScenario(bench: bench, report: report).run() }
    if options.wants("fairness") { try await FairnessScenario(bench: bench, report: report).run() }
    if options.wants("isolation") { try await IsolationScenario(bench: bench, report: report).run() }
    if options.wants("memory") { try await MemoryScenario(bench: bench, report: report).run() }
    if let path = options.resultsPath { try report.write(to: path) }
    bench.removeFolder()
} catch {
    FileHandle.standardError.write(Data("apus-benchmarks: \(error)\n".utf8))
    exit(70)
}
