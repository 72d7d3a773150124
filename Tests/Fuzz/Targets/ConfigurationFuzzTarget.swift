import ChangeQueue
import DispatchCore
import TOML

@testable import Dispatcher
@testable import WorkerConfiguration

/// Reads a configuration; the parts after the first are lines `KEY=VALUE`, as for `--set`.
///
/// An accepted configuration must be fit for a worker: its numbers go into the retry ladder, the limits and the
/// topology.
struct ConfigurationFuzzTarget: FuzzTarget {
    /// A folder that is not there, so that no file of this machine is read.
    private static let path = "/nonexistent/apus.toml"

    func run(_ input: FuzzInput) throws(FuzzFailure) {
        var input = input
        var merger = ConfigurationMerger()
        guard let entries = try? TOMLDocument.parse(input.text) else { return }
        merger.add(entries, path: Self.path)
        merger.add(
            input.parts.dropFirst().map { part in
                let pair = String(decoding: part, as: UTF8.self).split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return ConfigurationOverride(key: String(pair[0]), value: pair.count == 2 ? String(pair[1]) : "")
            })
        var reader = ConfigurationReader(
            merger, path: Self.path, purpose: input.choice([.tool, .worker, .registryServer, .webhooks, .check]))
        let configuration = reader.readConfiguration()
        guard reader.problems.isEmpty else { return }
        let pipeline = configuration.pipeline
        try promise(!configuration.topology.names.work.isEmpty, "a work queue without a name")
        _ = DispatchStateMachine(
            appCount: pipeline.apps.count, policy: pipeline.retryPolicy, queues: pipeline.queues,
            limits: pipeline.limits)
    }
}
