import ChangeQueue
import JSON
import Messages

/// Writes topologies, for people and for programs.
enum TopologyReport {
    /// Describes an object in some lines.
    static func text(_ object: TopologyObject) -> String {
        var lines = ["\(object.kind.rawValue) \(object.name)", "    \(object.purpose)"]
        for binding in object.bindings { lines.append("    bound to \(binding.exchange) with \(binding.routingKey)") }
        for argument in object.arguments { lines.append("    \(argument.name) = \(text(argument.value))") }
        return lines.joined(separator: "\n")
    }

    /// All objects, as one JSON document.
    static func json(_ objects: [TopologyObject]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for object in objects {
            writer.beginObject()
            write(object, to: &writer)
            writer.endObject()
        }
        writer.endArray()
        return writer.bytes
    }

    /// All findings, as one JSON document.
    static func json(_ findings: [TopologyFinding]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for finding in findings {
            writer.beginObject()
            write(finding.object, to: &writer)
            writer.key("status")
            switch finding.status {
            case .present: writer.string("present")
            case .created: writer.string("created")
            case .missing: writer.string("missing")
            case .unconsumed: writer.string("unconsumed")
            case .deleted: writer.string("deleted")
            case .surplus(let messageCount, let consumerCount):
                writer.string("surplus")
                writer.key("messages")
                writer.integer(Int64(messageCount))
                writer.key("consumers")
                writer.integer(Int64(consumerCount))
            case .different(let argument, let actual, let wanted):
                writer.string("different")
                for (key, text) in [("argument", argument), ("actual", actual), ("wanted", wanted)] {
                    writer.key(dynamic: key)
                    writer.string(text)
                }
            case .overridden(let policies, let conflicts):
                writer.string("overridden")
                write(policies, conflicts, to: &writer)
            case .unusedRetry(let messageCount):
                writer.string("unused-retry")
                writer.key("messages")
                writer.integer(Int64(messageCount))
            case .unproven(let text): write("unproven", detail: text, to: &writer)
            case .uncompared(let text): write("uncompared", detail: text, to: &writer)
            case .unknown(let text): write("unknown", detail: text, to: &writer)
            }
            writer.endObject()
        }
        writer.endArray()
        return writer.bytes
    }

    private static func write(_ status: String, detail: String, to writer: inout JSONWriter) {
        writer.string(status)
        writer.key("detail")
        writer.string(detail)
    }

    private static func write(_ policies: [String], _ conflicts: [PolicyConflict], to writer: inout JSONWriter) {
        writer.key("policies")
        writer.beginArray()
        for policy in policies { writer.string(policy) }
        writer.endArray()
        writer.key("conflicts")
        writer.beginArray()
        for conflict in conflicts {
            writer.beginObject()
            writer.key("setting")
            writer.string(conflict.setting)
            writer.key("effect")
            writer.string(conflict.effect)
            writer.key("losesMessages")
            writer.boolean(conflict.losesMessages)
            writer.endObject()
        }
        writer.endArray()
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
        if invocation.isJSON {
            invocation.output.line(json(findings))
        } else {
            for finding in findings { invocation.output.line(finding.description) }
        }
        let compared = findings.filter { !$0.isUncompared }
        if compared.allSatisfy(\.isGood) { return compared.count == findings.count ? .ok : .noPermission }
        return compared.allSatisfy { $0.isGood || $0.isPending } ? .temporaryFailure : .configuration
    }

    private static func write(_ object: TopologyObject, to writer: inout JSONWriter) {
        writer.key("kind")
        writer.string(object.kind.rawValue)
        writer.key("name")
        writer.string(object.name)
        writer.key("purpose")
        writer.string(object.purpose)
        writer.key("arguments")
        writer.beginObject()
        for argument in object.arguments {
            writer.key(dynamic: argument.name)
            if case .int64(let number) = argument.value {
                writer.integer(number)
            } else {
                writer.string(text(argument.value))
            }
        }
        writer.endObject()
        writer.key("bindings")
        writer.beginArray()
        for binding in object.bindings {
            writer.beginObject()
            writer.key("exchange")
            writer.string(binding.exchange)
            writer.key("routingKey")
            writer.string(binding.routingKey)
            writer.endObject()
        }
        writer.endArray()
    }

    private static func text(_ value: HeaderValue) -> String {
        switch value {
        case .string(let text): text
        case .int64(let number): String(number)
        default: "\(value)"
        }
    }
}
