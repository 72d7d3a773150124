import Foundation
import PushTestKit
import Testing

@Suite("Alerts, runbooks and dashboards")
struct AlertRuleTests {
    private static let rules = Repository.text("deploy/alerts/apus.rules.yml") ?? ""
    private static let alerts = rules.matches(of: /- alert: (\w+)/).map { String($0.output.1) }
    private static let dashboards = Repository.paths(below: "deploy/dashboards").filter { $0.hasSuffix(".json") }
    /// The labels of each metric in the document of the metrics, which a test compares with the program.
    private static let labels: [String: Set<String>] = {
        let rows = (Repository.text("deploy/metrics.md") ?? "").matches(of: /(?m)^\| `([a-z_]+)` \| (\w+) \|([^|]*)\|/)
        return rows.reduce(into: [:]) { labels, row in
            let own = Set(row.output.3.matches(of: /`(\w+)`/).map { String($0.output.1) })
            let isHistogram = row.output.2 == "histogram"
            for suffix in isHistogram ? ["_bucket", "_sum", "_count"] : [""] {
                labels["\(row.output.1)\(suffix)"] = own.union(suffix == "_bucket" ? ["le"] : [])
            }
        }
    }()

    @Test("promtool finds nothing to say about the rules, and their unit tests pass")
    func promtool() async throws {
        let folder = try TemporaryFolder()
        let root = Repository.root.path
        let tests = Repository.paths(below: "deploy/alerts/tests").filter { $0.hasSuffix(".yml") }
        #expect(!tests.isEmpty)
        for arguments in [
            ["check", "rules", "--lint-fatal", "\(root)/deploy/alerts/apus.rules.yml"],
            ["test", "rules"] + tests.map { "\(root)/\($0)" },
        ] {
            let result = try await CommandRunner.run("/usr/bin/promtool", arguments, in: folder)
            #expect(result.exitCode == 0, "if promtool is missing: apt-get install prometheus\n\(result)")
        }
    }

    @Test("Every alert says how bad it is and what to do, and a unit test fires it")
    func alertsAreComplete() {
        #expect(Set(Self.alerts).count == Self.alerts.count && !Self.alerts.isEmpty)
        let tests = Repository.paths(below: "deploy/alerts/tests").compactMap { Repository.text($0) }.joined()
        for part in Self.rules.components(separatedBy: "- alert: ").dropFirst() {
            let name = String(part.prefix { $0 != "\n" })
            for annotation in ["summary: ", "description: ", "/runbooks/\(name).md"] {
                #expect(part.contains(annotation), "\(name) has no \(annotation)")
            }
            #expect(part.contains("severity: critical") || part.contains("severity: warning"), "\(name)")
            #expect(tests.contains("alertname: \(name)\n"), "no unit test fires \(name)")
        }
    }

    @Test("Every alert has a runbook with the four sections, and every runbook an alert")
    func runbooks() {
        // The README says how to run the commands of all of them.
        let paths = Repository.paths(below: "deploy/runbooks").filter { !$0.hasSuffix("/README.md") }
        #expect(Set(paths) == Set(Self.alerts.map { "deploy/runbooks/\($0).md" }))
        for path in paths {
            let headings = (Repository.text(path) ?? "").matches(of: /(?m)^## (.+)$/).map { String($0.output.1) }
            #expect(headings == ["Meaning", "Impact", "Diagnosis", "Mitigation"], "\(path)")
        }
    }

    @Test("Every metric and label that a rule or a dashboard asks for exists")
    func queriesAskForWhatExists() throws {
        let asked = try Self.dashboards.flatMap { try queries(of: $0) }
        #expect(asked.count > 50)
        for text in asked + [Self.rules] {
            for match in text.replacing(/job:[\w:]+/, with: "").matches(of: /\b((?:apus|process)_\w+)(\{[^}]*\})?/) {
                let name = String(match.output.1)
                guard let known = Self.labels[name] else {
                    Issue.record("deploy/metrics.md has no \(name): \(text.prefix(200))")
                    continue
                }
                let selected = (match.output.2 ?? "").matches(of: /(\w+)=/).map { String($0.output.1) }
                let unknown = selected.filter { !known.union(["job", "instance"]).contains($0) }
                #expect(unknown.isEmpty, "\(name) has no label \(unknown)")
            }
        }
    }

    @Test("Every dashboard can be imported by an older Grafana, and every panel explains itself", arguments: dashboards)
    func dashboard(path: String) throws {
        let board = try object(of: path)
        let uid = board["uid"] as? String ?? ""
        #expect(path.hasSuffix("/\(uid.dropFirst("apus-".count)).json") && uid.hasPrefix("apus-"))
        let schemaVersion = try #require(board["schemaVersion"] as? Int)
        #expect(schemaVersion <= 39 && board["id"] is NSNull && board["version"] == nil)
        let panels = try #require(board["panels"] as? [[String: Any]])
        let identifiers = panels.compactMap { $0["id"] as? Int }
        #expect(identifiers.count == panels.count && Set(identifiers).count == panels.count)
        for panel in panels where panel["type"] as? String != "row" {
            let title = panel["title"] as? String ?? ""
            let description = panel["description"] as? String ?? ""
            #expect(!title.isEmpty && description.count > 20, "\(path): \(title)")
            let defaults = (panel["fieldConfig"] as? [String: Any])?["defaults"] as? [String: Any]
            let unit = defaults?["unit"] as? String ?? ""
            #expect(!unit.isEmpty, "\(title) has no unit")
            #expect(sourceUID(of: panel) == "${datasource}", "\(title)")
            for target in panel["targets"] as? [[String: Any]] ?? [] {
                let query = target["expr"] as? String ?? ""
                for rate in query.matches(of: /\brate\([^\[]*\[([^\]]*)\]/) {
                    #expect(rate.output.1 == "$__rate_interval", "\(title): \(query)")
                }
                #expect(sourceUID(of: target) == "${datasource}", "\(title)")
            }
        }
    }

    private func sourceUID(of object: [String: Any]) -> String? {
        (object["datasource"] as? [String: String])?["uid"]
    }

    private func object(of path: String) throws -> [String: Any] {
        let json = try JSONSerialization.jsonObject(with: Data((Repository.text(path) ?? "").utf8))
        return try #require(json as? [String: Any])
    }

    private func queries(of path: String) throws -> [String] {
        let panels = try #require(try object(of: path)["panels"] as? [[String: Any]])
        return panels.flatMap { ($0["targets"] as? [[String: Any]] ?? []).compactMap { $0["expr"] as? String } }
    }
}
