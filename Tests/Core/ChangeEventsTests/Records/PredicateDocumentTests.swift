import Foundation
import JSON
import Predicates
import PushTestKit
import Testing

@Suite("Predicates: their document")
struct PredicateDocumentTests {
    private static let text = String(decoding: (try? ExampleEvents.bytes("PREDICATES.md")) ?? [], as: UTF8.self)

    /// Returns the contents of the fences of a kind.
    private static func blocks(_ kind: String) -> [String] {
        text.components(separatedBy: "```\(kind)\n").dropFirst().map { block in
            block.components(separatedBy: "```").first ?? ""
        }
    }

    @Test("Every example is a predicate")
    func examplesParse() throws {
        let lines = Self.blocks("predicate").flatMap { $0.split(separator: "\n") }
        #expect(lines.count >= 7)
        for line in lines { #expect(throws: Never.self, "\(line)") { try Predicate(parsing: String(line)) } }
        let documents = Self.blocks("json")
        #expect(documents.count == 3)
        _ = try JSONPredicates.filterBy(documents[0])
        _ = try JSONPredicates.filterGroup(documents[1])
        _ = try JSONPredicates.filterInput(documents[2])
    }

    @Test("Limits are what the document says")
    func limitsAgree() {
        let (bytes, names) = (PredicateLimits.pathBytesMaximum, PredicateLimits.pathNamesMaximum)
        let appSync = [
            AppSyncLimits.filtersMaximum, AppSyncLimits.rulesMaximum, AppSyncLimits.valuesMaximum,
            AppSyncLimits.containsAnyMaximum,
        ]
        let rows = [
            "| alternatives, when everything is written as an OR of ANDs | \(PredicateLimits.conjunctionsMaximum) |",
            "| conditions that must hold at once | \(PredicateLimits.termsMaximum) |",
            "| values of `IN` and of a list, words of a search | \(PredicateLimits.membersMaximum) |",
            "| the path of a field | \(bytes) bytes, \(names) names |",
            "| all of it | \(PredicateLimits.canonicalBytesMaximum / 1024) KiB |",
            "| all of it as it is written, as text or as JSON without white space | 65,536 bytes, 1,024 conditions |",
            "| AppSync: filters, rules of each, values of `in`, of `containsAny` |"
                + " \(appSync.map(String.init).joined(separator: ", ")) |",
            "A record has at most \(RecordLimits.fieldsMaximum) fields, a list \(RecordLimits.membersMaximum) members,"
                + " a text \(RecordLimits.textBytesMaximum / 1024) KiB.",
        ]
        for row in rows { #expect(Self.text.contains(row), "\(row)") }
        #expect(PredicateLimits.writtenBytesMaximum == 65_536 && PredicateLimits.conditionsMaximum == 1_024)
        #expect(PredicateLimits.wordsMaximum == PredicateLimits.membersMaximum)
    }
}
