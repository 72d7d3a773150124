import Foundation
import PushTestKit
import Testing

@Suite("Documents and scripts")
struct DocumentRuleTests {
    @Test("Every relative link of a document leads to a file")
    func linksResolve() {
        for path in Repository.paths(below: "") where path.hasSuffix(".md") {
            let folder = path.split(separator: "/").dropLast().joined(separator: "/")
            for target in links(in: Repository.text(path) ?? "") {
                let file = folder.isEmpty ? target : "\(folder)/\(target)"
                let url = Repository.root.appendingPathComponent(file)
                #expect(FileManager.default.fileExists(atPath: url.path), "\(path) links to \(target)")
            }
        }
    }

    @Test("Every metric that a document names is counted by a source")
    func metricsExist() {
        // A metric of every program begins with the program's name.
        let names = /"(?:apus|\\\(product\))_([a-z_]+)"/
        let counted = Set(
            Repository.sources.flatMap { $0.lines.joined(separator: "\n").matches(of: names) }.map {
                "apus_\($0.output.1)"
            })
        for path in Repository.paths(below: "") where path.hasSuffix(".md") {
            // Not a function of a schema: `apus_outbox.push`.
            for match in (Repository.text(path) ?? "").matches(of: /`(apus_[a-z_]+)(?![.a-z_])/) {
                let name = String(match.output.1)
                #expect(counted.contains(name), "\(path) names \(name)")
            }
        }
    }

    @Test("The changelog begins with the program's version, or what follows it; manifests for Kubernetes deploy it")
    func versionIsOne() throws {
        let source = Repository.text("Sources/Command/apus/Commands/HelpCommand.swift") ?? ""
        let version = try #require(source.firstMatch(of: /static let current = "([^"]+)"/)).output.1
        let changelog = Repository.text("CHANGELOG.md") ?? ""
        let headings = changelog.matches(of: /(?m)^## (\S+)/).map(\.output.1)
        #expect(headings.first { $0 != "Unreleased" } == version && !headings.dropFirst().contains("Unreleased"))
        let overlays = Repository.paths(below: "deploy/kubernetes/overlays")
            .filter { $0.hasSuffix("/kustomization.yaml") }
        #expect(!overlays.isEmpty)
        for path in overlays {
            let tags = (Repository.text(path) ?? "").matches(of: /newTag: (\S+)/).map(\.output.1)
            #expect(tags == [version], "\(path)")
        }
        #expect(Repository.text("deploy/kubernetes/README.md")?.contains("/apus:\(version)`") == true)
    }

    @Test("Every Swift file that a document or a comment names is there")
    func namedFilesExist() {
        let documents = Repository.paths(below: "").filter { $0.hasSuffix(".md") }
        let sources = Repository.swiftFiles.filter { !$0.path.hasPrefix("Tests/TidyTests/") }
        let texts =
            documents.map { ($0, Repository.text($0) ?? "") }
            + sources.map { ($0.path, $0.lines.joined(separator: "\n")) }
        let paths = ["/Package.swift"] + Repository.swiftFiles.map { "/\($0.path)" }
        for (path, text) in texts {
            for match in text.matches(of: /`([\w+\/.]+\.swift)`/) {
                let isThere = paths.contains { $0.hasSuffix("/\(match.output.1)") }
                #expect(isThere, "\(path) names \(match.output.1)")
            }
        }
    }

    @Test("Every shell script is free of syntax errors")
    func scriptsParse() async throws {
        let scripts = (Repository.paths(below: "deploy") + [".ci/run"]).filter { path in
            let firstLine = Repository.text(path)?.prefix { $0 != "\n" } ?? ""
            return firstLine.hasPrefix("#!") && firstLine.hasSuffix("sh")
        }
        #expect(scripts.contains("deploy/bin/install-packages"))
        let folder = try TemporaryFolder()
        for script in scripts {
            let path = Repository.root.appendingPathComponent(script).path
            let result = try await CommandRunner.run("/bin/bash", ["-n", path], in: folder)
            #expect(result.exitCode == 0, "bash -n \(script) fails: \(result.errors)")
        }
    }

    @Test("The scripts of the operator's page do as their own tests say")
    func pageScriptsPass() async throws {
        let suite = Repository.root.appendingPathComponent("Tests/OperatorPage").path
        let result = try await CommandRunner.run("/usr/bin/node", ["--test", suite], in: try TemporaryFolder())
        #expect(result.exitCode == 0, "node --test \(suite) fails: \(result.output)")
    }

    /// The targets of inline links, without anchors; addresses of the web are left out.
    private func links(in text: String) -> [String] {
        text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.output.1) }.compactMap { target in
            guard !target.contains("://"), !target.hasPrefix("#"), !target.hasPrefix("mailto:") else {
                return nil
            }
            return String(target.prefix { $0 != "#" })
        }
    }
}
