import Foundation
import Testing

@Suite("Fuzzers", .timeLimit(.minutes(10)))
struct CorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("corpus")

    @Test("No input of the corpus breaks a promise", arguments: FuzzTargets.all.keys.sorted())
    func corpus(name: String) throws {
        let target = try #require(FuzzTargets.all[name])
        let folder = Self.folder.appendingPathComponent(name)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(!files.isEmpty)
        for file in files {
            let bytes = try Data(contentsOf: folder.appendingPathComponent(file))
            do {
                try target.run(FuzzInput(Array(bytes)))
            } catch {
                Issue.record("corpus/\(name)/\(file): \(error)")
            }
        }
    }
}
