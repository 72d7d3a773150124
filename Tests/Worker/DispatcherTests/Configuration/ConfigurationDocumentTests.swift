import Foundation
import PushTestKit
import Testing
import WorkerConfiguration

@Suite("The document of the configuration")
struct ConfigurationDocumentTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test("deploy/configuration.md is what the program prints")
    func committedDocument() throws {
        let committed = try String(
            contentsOf: Self.root.appending(path: "deploy/configuration.md"), encoding: .utf8)
        #expect(
            committed == ConfigurationDocument.markdown,
            "renew it: .build/debug/apus config document > deploy/configuration.md")
    }

    @Test("Every key of the sample is in the document and in the list")
    func everyKey() throws {
        let loaded = try ConfigurationFixture().load(SampleConfiguration.text, for: .tool)
        for value in loaded.effective {
            let words = value.key.split(separator: ".").filter { Int($0) == nil }
            let name = words.last.map { String($0) } ?? ""
            #expect(ConfigurationDocument.markdown.contains("| `\(name)` |"), "\(value.key)")
            #expect(ConfigurationDocument.list.contains("  \(words.joined(separator: ".")) "), "\(value.key)")
        }
    }

    @Test("The configuration of deploy/production.md is valid")
    func production() throws {
        let document = try String(contentsOf: Self.root.appending(path: "deploy/production.md"), encoding: .utf8)
        let block = try #require(document.components(separatedBy: "```toml\n").dropFirst().first)
        let text = try #require(block.components(separatedBy: "```").first)
        let configuration = try ConfigurationFixture().load(text, for: .tool).configuration
        #expect(configuration.apps.map(\.name) == ["chat"])
    }
}
