import Dispatcher
import Foundation
import Metrics
import Notifications
import PushCore
import PushTestKit
import RegistryAPI
import SQLiteRegistry
import Testing

@Suite("The document of the metrics")
struct MetricsDocumentTests {
    /// Made after RabbitMQ's management API was asked, because 0 would say that there is no conflict, and by the
    /// process around the worker.
    private static let conditional = [
        "apus_policy_conflicts", "apus_config_last_reload_successful",
        "apus_config_last_reload_success_timestamp_seconds",
    ]
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test("deploy/metrics.md has a row for every metric of a worker and of the API, and no other")
    func committedDocument() throws {
        let document = try String(contentsOf: Self.root.appending(path: "deploy/metrics.md"), encoding: .utf8)
        let rows = document.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { String($0) }
        let described = rows.filter { row in !Self.conditional.contains { row.hasPrefix("| `\($0)` |") } }
        let registered = try registeredRows()
        #expect(described.count == rows.count - Self.conditional.count)
        for row in registered where !described.contains(row) { Issue.record("deploy/metrics.md lacks:\n\(row)") }
        for row in described where !registered.contains(row) { Issue.record("no such metric:\n\(row)") }
    }

    /// The rows of all metrics that a worker with the registry's API has before its first event.
    private func registeredRows() throws -> [String] {
        let fixture = try ConfigurationFixture()
        _ = try SQLiteRegistry.open(path: "\(fixture.folder.path)/registry.db", mode: .create)
        let metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, product: "apus", version: "1.2.3")
        let configuration = try fixture.load(ConfigurationFixture.app).configuration
        // Never started: it connects to nothing.
        let worker = try Worker(configuration: configuration, logger: .silent, metrics: metrics)
        let api = try configuration.registryServer(
            at: HostPort(host: "127.0.0.1", port: 0), mode: .readWrite, metrics: metrics, logger: .silent)
        defer { api.stop() }
        return withExtendedLifetime(worker) { rows(of: metrics.render()) }
    }

    private func rows(of text: String) -> [String] {
        var families: [(name: String, help: String, type: String, labels: [String])] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3)
            if line.hasPrefix("# HELP ") {
                families.append((String(words[2]), String(words[3]), "", []))
            } else if line.hasPrefix("# TYPE ") {
                families[families.count - 1].type = String(words[3])
            } else {
                for label in line.matches(of: /([a-z_]+)="/).map({ String($0.output.1) }) where label != "le" {
                    let isNew = !families[families.count - 1].labels.contains(label)
                    if isNew { families[families.count - 1].labels.append(label) }
                }
            }
        }
        return families.map { family in
            let labels = family.labels.map { "`\($0)`" }.joined(separator: " ")
            return "| `\(family.name)` | \(family.type) |\(labels.isEmpty ? "" : " \(labels)") | \(family.help) |"
        }
    }
}
