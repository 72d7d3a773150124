import ChangeQueue
import Messages

/// Writes topologies, for people and for programs.
enum TopologyReport {
    /// Describes an object in some lines.
    static func lines(_ object: TopologyObject) -> [String] {
        var lines = ["\(object.kind.rawValue) \(object.name)", "    \(object.purpose)"]
        for binding in object.bindings { lines.append("    bound to \(binding.exchange) with \(binding.routingKey)") }
        for argument in object.arguments { lines.append("    \(argument.name) = \(text(argument.value))") }
        return lines
    }

    /// An object for programs.
    static func report(_ object: TopologyObject) -> Report {
        [
            "kind": object.kind.rawValue, "name": object.name, "purpose": object.purpose,
            "arguments": Report(object.arguments.map { .init($0.name, value($0.value)) }),
            "bindings": object.bindings.map { ["exchange": $0.exchange, "routingKey": $0.routingKey] as Report },
        ]
    }

    private static func report(_ status: TopologyFinding.Status) -> Report {
        switch status {
        case .present: ["status": "present"]
        case .created: ["status": "created"]
        case .missing: ["status": "missing"]
        case .unconsumed: ["status": "unconsumed"]
        case .deleted: ["status": "deleted"]
        case .surplus(let messageCount, let consumerCount):
            ["status": "surplus", "messages": messageCount, "consumers": consumerCount]
        case .different(let argument, let actual, let wanted):
            ["status": "different", "argument": argument, "actual": actual, "wanted": wanted]
        case .overridden(let policies, let conflicts):
            ["status": "overridden", "policies": policies, "conflicts": conflicts.map(report)]
        case .unusedRetry(let messageCount): ["status": "unused-retry", "messages": messageCount]
        case .unproven(let text): ["status": "unproven", "detail": text]
        case .uncompared(let text): ["status": "uncompared", "detail": text]
        case .unknown(let text): ["status": "unknown", "detail": text]
        }
    }

    private static func report(_ conflict: PolicyConflict) -> Report {
        ["setting": conflict.setting, "effect": conflict.effect, "losesMessages": conflict.losesMessages]
    }

    /// Looks at the policies of the broker as well, prints all and says how the command ends.
    ///
    /// - Throws: `CommandFailure`, after the known findings are printed, if the policies cannot be read.
    static func finish(
        _ findings: [TopologyFinding], of topology: Topology, at broker: BrokerConfiguration,
        _ invocation: CommandInvocation
    ) async throws(CommandFailure) -> ExitCode {
        do throws(ChangeQueueError) {
            return finish(try await topology.withPolicies(findings, of: broker), invocation)
        } catch {
            let code = finish(findings, invocation)
            guard code == .ok else { return code }
            throw CommandFailure(error)
        }
    }

    /// Prints findings and says how the command ends.
    static func finish(_ findings: [TopologyFinding], _ invocation: CommandInvocation) -> ExitCode {
        invocation.show(
            json: findings.map { report($0.object) + report($0.status) }.json, lines: findings.map(\.description))
        let compared = findings.filter { !$0.isUncompared }
        if compared.allSatisfy(\.isGood) { return compared.count == findings.count ? .ok : .noPermission }
        return compared.allSatisfy { $0.isGood || $0.isPending } ? .temporaryFailure : .configuration
    }

    private static func value(_ value: HeaderValue) -> any ReportValue {
        if case .int64(let number) = value { number } else { text(value) }
    }

    private static func text(_ value: HeaderValue) -> String {
        switch value {
        case .string(let text): text
        case .int64(let number): String(number)
        default: "\(value)"
        }
    }
}
