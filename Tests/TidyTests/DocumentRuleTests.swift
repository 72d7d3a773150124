import Foundation
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

    @Test("Every shell script is free of syntax errors")
    func scriptsParse() throws {
        let scripts = (Repository.paths(below: "deploy") + [".ci/run"]).filter { path in
            let firstLine = Repository.text(path)?.prefix { $0 != "\n" } ?? ""
            return firstLine.hasPrefix("#!") && firstLine.hasSuffix("sh")
        }
        #expect(scripts.contains("deploy/bin/install-packages"))
        for script in scripts {
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/bash")
            shell.arguments = ["-n", Repository.root.appendingPathComponent(script).path]
            try shell.run()
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 0, "bash -n \(script) fails")
        }
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
