import Crypto
import Dispatcher
import FCMSimulator
import Foundation
import Metrics
import PushTestKit
import RegistryCore
import SQLiteRegistry
import Testing
import Webhooks

@Suite("The document of the metrics")
struct MetricsDocumentTests {
    /// The metrics that are made later.
    ///
    /// The first after RabbitMQ's management API was asked, because 0 would say that there is no conflict; the second
    /// when its service fails an app for the first time, because most apps never need the series; the last for a server
    /// that takes events, and so connects to RabbitMQ.
    private static let conditional = ["apus_policy_conflicts", "apus_app_failing", "apus_registry_api_events_total"]
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test(
        "deploy/metrics.md has a row for every metric of worker, API, webhooks, campaigns and relay, and no other"
    )
    func committedDocument() throws {
        let document = try String(contentsOf: Self.root.appending(path: "deploy/metrics.md"), encoding: .utf8)
        let rows = document.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { String($0) }
        let described = rows.filter { row in !Self.conditional.contains { row.hasPrefix("| `\($0)` |") } }
        let registered = try registeredRows()
        #expect(described.count == rows.count - Self.conditional.count)
        for row in registered where !described.contains(row) { Issue.record("deploy/metrics.md lacks:\n\(row)") }
        for row in described where !registered.contains(row) { Issue.record("no such metric:\n\(row)") }
    }

    /// The rows of all metrics that a worker with the registry's API, and webhooks, have before the first event.
    private func registeredRows() throws -> [String] {
        let fixture = try ConfigurationFixture()
        _ = try SQLiteRegistry.open(path: "\(fixture.folder.path)/registry.db", mode: .create)
        let account = try ServiceAccountKey(projectID: "chat-4711")
        try fixture.folder.write("account.json", account.credentialsJSON(tokenURI: "https://localhost/token"))
        try fixture.folder.write("vapid.pem", ES256PrivateKey.generate().pem)
        let others =
            "[app.webpush]\nkey_file = \"vapid.pem\"\nsubject = \"mailto:push@example.com\"\n"
            + "[app.fcm]\nservice_account_file = \"account.json\"\n"
            + "[app.adm]\nclient_id = \"client\"\nclient_secret = \"secret\"\n"
        let metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, product: "apus", version: "1.2.3")
        let sections = "[registry]\nlisten = \"127.0.0.1:0\"\n[log]\nlevel = \"error\"\n"
        // Never started: it connects to nothing.
        let host = try WorkerHost(
            fixture.load(sections + ConfigurationFixture.app + others), version: "1.2.3", metrics: metrics)
        // Those of `apus webhooks`.
        _ = WebhookMetrics(metrics, app: "chat")
        let counting = try OutcomeHost<AnalyticsRun>(
            fixture.load(
                "[analytics]\nenabled = true\n[log]\nlevel = \"error\"\n"
                    + ConfigurationFixture.app.replacing("[[app]]", with: "[[app]]\noutcomes = [\"all\"]")),
            listen: nil, version: "1.2.3", metrics: metrics)
        let relaying = try OutcomeHost<RelayRun>(
            fixture.load(
                "[relay]\nurl = \"postgresql:///shop\"\n[log]\nlevel = \"error\"\n" + ConfigurationFixture.app),
            listen: nil, version: "1.2.3", metrics: metrics)
        return withExtendedLifetime((host, counting, relaying)) { rows(of: metrics.render(isComplete: true)) }
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
