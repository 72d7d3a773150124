import Foundation
import Testing

@Suite("The examples of the libraries' documentation")
struct ArticleTests {
    /// A library, and the least number of examples that its articles have.
    private static let libraries = [
        ("APNs", 10), ("FCM", 9), ("WebPush", 8), ("ApusPublisher", 14), ("ApusClient", 10),
    ]

    /// The text without white space, because the formatter breaks lines as their depth demands.
    private static func solid(_ text: some StringProtocol) -> String { String(text.filter { !$0.isWhitespace }) }

    /// The blocks that are marked as Swift.
    private static func examples(in text: String) -> [String] {
        text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "\n```")[0] }
    }

    private static func text(_ path: String) throws -> String {
        try #require(Repository.text(path), "\(path) cannot be read")
    }

    @Test("Every example of the articles is compiled, to the letter", arguments: libraries)
    func examplesAreCompiled(library: String, least: Int) throws {
        let folders = ["Tests/Libraries/\(library)Tests/Articles", "deploy/send-push/Sources"]
        let files = folders.flatMap { Repository.paths(below: $0) }.filter { $0.hasSuffix(".swift") }
        let compiled = try files.map { Self.solid(try Self.text($0)) }
        var count = 0
        for document in Repository.paths(below: "Sources/Libraries/\(library)/\(library).docc") {
            for example in Self.examples(in: try Self.text(document)) {
                count += 1
                let text = Self.solid(example)
                #expect(
                    compiled.contains { $0.contains(text) }, "\(document): nothing compiles this example:\n\(example)")
            }
        }
        #expect(count >= least)
    }
}
