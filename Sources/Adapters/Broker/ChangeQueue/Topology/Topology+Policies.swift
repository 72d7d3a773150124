import AMQP
public import Metrics
public import StructuredLogging

/// The effect of operators' policies on our queues.
extension Topology {
    /// Looks at the policies that are in force, if the configuration says where RabbitMQ's management API is.
    ///
    /// - Parameters:
    ///   - findings: the finding about each object.
    ///   - configuration: where the broker is; its namespace does not matter.
    /// - Returns: the findings; a good one becomes `overridden` where a policy changes the queue.
    /// - Throws: `ChangeQueueError` if the API cannot be used.
    public func withPolicies(
        _ findings: [TopologyFinding], of configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [TopologyFinding] {
        guard let management = ManagementAPI(configuration) else { return findings }
        // A queue that Apus does not ask for has no arguments here that a policy could contradict.
        let queues = findings.filter {
            $0.isGood && $0.object.kind == .quorumQueue && $0.status != .deleted && !$0.object.arguments.isEmpty
        }
        let policies = try await management.effectivePolicies(of: queues.map(\.object.name))
        // Only then the version matters.
        let isNegative = policies.values.contains { $0.number("delivery-limit").map { $0 < 0 } ?? false }
        let version = isNegative ? try await configuration.checkConnection().version : nil
        let hasUnlimitedDeliveries = version.map { $0 >= AMQPServer.Version(4, 0, 0) } ?? true
        return findings.map { finding in
            guard finding.isGood, let policy = policies[finding.object.name] else { return finding }
            let conflicts = finding.object.conflicts(
                with: policy, hasUnlimitedDeliveries: hasUnlimitedDeliveries)
            guard !conflicts.isEmpty else { return finding }
            return TopologyFinding(
                object: finding.object, status: .overridden(policies: policy.names, conflicts: conflicts))
        }
    }

    /// Looks at what policies change of our queues, as far as these are there.
    ///
    /// - Parameter configuration: where the broker is; its namespace does not matter.
    /// - Returns: a finding for each queue that a policy changes; none if the configuration does not name the API.
    /// - Throws: `ChangeQueueError` if the API cannot be used.
    public func policyFindings(
        of configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [TopologyFinding] {
        let present = objects.map { TopologyFinding(object: $0, status: .present) }
        return try await withPolicies(present, of: configuration).filter { $0.status != .present }
    }

    /// Checks the policies once and logs the changes; the worker runs all the same.
    ///
    /// A worker that stopped here would stop every push for a loss that may never happen. `apus topology apply` and
    /// `apus check`, which come earlier, fail instead.
    ///
    /// - Parameters:
    ///   - configuration: where the broker is.
    ///   - logger: where to say it.
    ///   - metrics: counts the policies that may lose messages. Nothing is counted unless RabbitMQ has answered,
    ///     because a count of 0 means that there are none.
    public func reportPolicies(
        of configuration: BrokerConfiguration, logger: Logger, metrics: MetricsRegistry
    ) async {
        guard !configuration.managementURL.isEmpty else { return }
        let findings: [TopologyFinding]
        do throws(ChangeQueueError) { findings = try await policyFindings(of: configuration) } catch {
            return logger.log(.warning, "topology.policy.unknown", [.field("reason", error.message)])
        }
        var losingCount = 0
        for finding in findings {
            guard case .overridden(let policies, let conflicts) = finding.status else { continue }
            for conflict in conflicts {
                if conflict.losesMessages { losingCount += 1 }
                logger.log(
                    conflict.losesMessages ? .error : .warning, "topology.policy",
                    [
                        .field("queue", finding.object.name), .field("policy", policies.joined(separator: ",")),
                        .field("setting", conflict.setting), .field("effect", conflict.effect),
                        .field("losesMessages", conflict.losesMessages),
                        .field("advice", "Change the policy, or its pattern so that it leaves this queue out."),
                    ])
            }
        }
        metrics.gauge(
            "apus_policy_conflicts",
            help: "Settings of policies, seen at the start, that may lose messages."
        ).set(losingCount)
    }
}
