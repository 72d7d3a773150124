import Foundation
import Testing

@Suite("The documentation's examples")
struct ArticleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The text without white space, because the formatter breaks lines as their depth demands.
    private static func solid(_ text: some StringProtocol) -> String { String(text.filter { !$0.isWhitespace }) }

    /// The blocks that are marked as Swift.
    private static func examples(in text: String) -> [String] {
        text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "\n```")[0] }
    }

    private static func documents() throws -> [String] {
        let folder = root.appending(path: "Sources/Libraries/APNs/APNs.docc")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            "Sources/Libraries/APNs/APNs.docc/\(name)"
        }
    }

    @Test("Every example of the articles is compiled, to the letter")
    func examplesAreCompiled() throws {
        let compiled = try [
            "Tests/Libraries/APNsTests/Articles/ArticleExamples.swift",
            "Tests/Libraries/APNsTests/Articles/ServiceExamples.swift",
            "deploy/send-push/Sources/SendPush/main.swift",
        ].map { Self.solid(try Self.text($0)) }
        var count = 0
        for document in try Self.documents() {
            for example in Self.examples(in: try Self.text(document)) {
                count += 1
                let text = Self.solid(example)
                #expect(
                    compiled.contains { $0.contains(text) }, "\(document): nothing compiles this example:\n\(example)")
            }
        }
        #expect(count >= 10)
    }
}
