import JSON
import Predicates
import PushTestKit
import Testing

@Suite("Writing CloudKit's filters")
struct FilterByWritingTests {
    private func written(_ predicate: Predicate) -> [UInt8]? {
        var writer = JSONWriter()
        return predicate.writeFilterBy(to: &writer) ? writer.bytes : nil
    }

    @Test("What is written reads back as the same predicate")
    func roundTrip() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = RandomPredicates(seed: seed)
        let parser = JSONParser()
        var count = 0
        for _ in 0..<8_000 {
            guard let predicate = try? Predicate(anyOf: [(0..<3).map { _ in random.term() }]),
                let json = written(predicate)
            else { continue }
            let text = String(decoding: json, as: UTF8.self)
            let read = Result { try Predicate(filterBy: parser.parse(json)) }
            #expect((try? read.get()) == predicate, "seed \(seed): \(predicate) became \(text): \(read)")
            count += 1
        }
        #expect(count > 500, "seed \(seed)")
    }

    @Test(
        "Every comparator's filter is written again",
        arguments: [
            #"{"comparator":"EQUALS","fieldName":"a","fieldValue":{"value":"b","type":"STRING"}}"#,
            #"{"comparator":"NOT_EQUALS","fieldName":"a","fieldValue":{"value":1,"type":"INT64"}}"#,
            #"{"comparator":"LESS_THAN","fieldName":"a","fieldValue":{"value":1.5,"type":"DOUBLE"}}"#,
            #"{"comparator":"GREATER_THAN_OR_EQUALS","fieldName":"a","fieldValue":{"value":1,"type":"TIMESTAMP"}}"#,
            #"{"comparator":"IN","fieldName":"a","fieldValue":{"value":["b","c"],"type":"STRING_LIST"}}"#,
            #"{"comparator":"NOT_IN","fieldName":"a","fieldValue":{"value":["b"],"type":"STRING_LIST"}}"#,
            #"{"comparator":"BEGINS_WITH","fieldName":"a","fieldValue":{"value":"b","type":"STRING"}}"#,
            #"{"comparator":"NOT_BEGINS_WITH","fieldName":"a","fieldValue":{"value":"b","type":"STRING"}}"#,
            #"{"comparator":"LIST_CONTAINS","fieldName":"a","fieldValue":{"value":"b","type":"STRING"}}"#,
            #"{"comparator":"NOT_LIST_CONTAINS_ANY","fieldName":"a","fieldValue":{"value":[1,2],"type":"INT64_LIST"}}"#,
            #"{"comparator":"LIST_MEMBER_BEGINS_WITH","fieldName":"a","fieldValue":{"value":"b","type":"STRING"}}"#,
            #"{"comparator":"CONTAINS_ANY_TOKENS","fieldValue":{"value":"bob smith","type":"STRING"}}"#,
            #"{"comparator":"NEAR","fieldName":"a","fieldValue":{"value":{"latitude":52.5,"longitude":13.4},"#
                + #""type":"LOCATION"},"distance":1000.0}"#,
            #"{"comparator":"EQUALS","fieldName":"a","fieldValue":{"value":{"recordName":"b"},"type":"REFERENCE"}}"#,
            #"{"comparator":"EQUALS","fieldName":"a","fieldValue":"#
                + #"{"value":{"recordName":"b","zoneID":{"zoneName":"z"}},"type":"REFERENCE"}}"#,
            #"{"comparator":"EQUALS","fieldName":"a","fieldValue":{"value":"AQI=","type":"BYTES"}}"#,
        ])
    func comparators(filter: String) throws {
        let predicate = try Predicate(filterBy: JSONParser().parse("[\(filter)]"))
        #expect(String(decoding: written(predicate) ?? [], as: UTF8.self) == "[\(filter)]")
    }

    @Test(
        "What CloudKit has no words for is not written",
        arguments: ["a = 1 OR b = 2", "NOT a < 1", "FALSEPREDICATE"])
    func noWords(text: String) throws {
        let predicate = try Predicate(parsing: text)
        var writer = JSONWriter()
        #expect(!predicate.writeFilterBy(to: &writer))
        #expect(writer.bytes.isEmpty)
    }

    @Test("Every record is no filter at all")
    func everyRecord() { #expect(written(.always) == Array("[]".utf8)) }
}
