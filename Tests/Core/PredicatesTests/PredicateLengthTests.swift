import JSON
import Notifications
import Predicates
import RegistryCore
import Testing

/// A text that is too long is refused before it is read: the fault at its beginning is not even found.
@Suite("Predicates: limits before reading")
struct PredicateLengthTests {
    private static let bytesMaximum = PredicateLimits.writtenBytesMaximum

    private func refusal(_ read: () throws(PredicateError) -> Predicate) -> PredicateError? {
        do {
            _ = try read()
            return nil
        } catch {
            return error
        }
    }

    private func text(bytes: Int) -> String { "? " + String(repeating: "x", count: bytes - 2) }

    @Test("A text that is too long is refused for its length, whatever is in it; one byte less is read")
    func texts() {
        let long = refusal { () throws(PredicateError) in try Predicate(parsing: text(bytes: Self.bytesMaximum + 1)) }
        #expect(long?.code == .tooLarge && long?.location == nil)
        let fits = refusal { () throws(PredicateError) in try Predicate(parsing: text(bytes: Self.bytesMaximum)) }
        #expect(fits?.code == .invalidSyntax)
        let blanks = String(repeating: " ", count: Self.bytesMaximum - 5)
        #expect(refusal { () throws(PredicateError) in try Predicate(parsing: "a = 1" + blanks) } == nil)
    }

    @Test("JSON that is too long is refused for its length, whatever is in it; one byte less is read")
    func json() throws {
        for (bytes, code) in [
            (Self.bytesMaximum + 1, PredicateError.Code.tooLarge), (Self.bytesMaximum, .invalidSyntax),
        ] {
            // The quotes count; no language takes a string in place of its array or object.
            let document = "\"" + String(repeating: "x", count: bytes - 2) + "\""
            let parser = JSONParser()
            let value = try parser.parse(document)
            #expect(refusal { () throws(PredicateError) in try Predicate(filterBy: value) }?.code == code)
            #expect(refusal { () throws(PredicateError) in try Predicate(filterGroup: value) }?.code == code)
            #expect(refusal { () throws(PredicateError) in try Predicate(filterInput: value) }?.code == code)
        }
    }

    @Test("Conditions are counted as they are read, so a fault behind too many of them is not found")
    func conditions() throws {
        let most = Array(repeating: "a=1", count: PredicateLimits.conditionsMaximum).joined(separator: " OR ")
        #expect(refusal { () throws(PredicateError) in try Predicate(parsing: most) } == nil)
        let more = refusal { () throws(PredicateError) in try Predicate(parsing: "\(most) OR a=1 OR ?") }
        #expect(more?.code == .tooLarge)
        // Sixteen times sixty-four operators, and one.
        let rule = #"{"or":[\#(Array(repeating: #"{"a":{"eq":1}}"#, count: 64).joined(separator: ","))]}"#
        let rules = Array(repeating: rule, count: 16).joined(separator: ",")
        let parser = JSONParser()
        let value = try parser.parse(#"{"and":[\#(rules),{"a":{"eq":1}}]}"#)
        let error = refusal { () throws(PredicateError) in try Predicate(filterInput: value) }
        #expect(error?.code == .tooLarge && error?.location == .member("filter.and[16].a"))
    }

    @Test("The work of cutting values and ranges with each other is counted")
    func joining() {
        let values = "a IN {" + (0..<64).map { "\"v\($0)\"" }.joined(separator: ",") + "}"
        let ranges = (0..<900).map { "a > \"\($0)\"" }.joined(separator: " AND ")
        let together = refusal { () throws(PredicateError) in try Predicate(parsing: "\(values) AND (\(ranges))") }
        #expect(together == nil, "the ranges become one before it is cut with the values")
        let each = refusal { () throws(PredicateError) in try Predicate(parsing: "\(values) AND \(ranges)") }
        #expect(each?.code == .tooLarge)
    }

    @Test("Notifications that are too long are refused before their members are looked at")
    func notifications() throws {
        let parser = JSONParser()
        let text = String(repeating: "x", count: NotificationInfo.writtenBytesMaximum)
        let value = try parser.parse(#"{"nothing":true,"title":"\#(text)"}"#)
        for isLenient in [false, true] {
            let error = #expect(throws: EventRejection.self) {
                try NotificationInfo(value, isLenient: isLenient)
            }
            #expect(error?.reason == .invalidField)
            #expect(error?.message.contains("longer than") == true, "\(String(describing: error))")
        }
    }

    @Test("A subscription whose predicate could not be sent back as it is answered is refused")
    func answered() throws {
        // Bytes take a third more as base64.
        let bytes = [UInt8](repeating: 0, count: 1_000)
        let values = (0..<50).map { FieldValue.bytes(bytes + [UInt8($0)]) }
        var subscription = RecordSubscription(
            key: SubscriptionKey(app: "chat", owner: .user("mei"), subscriptionID: "s"), recordType: "Song",
            predicate: try Predicate(PredicateTerm("a", .isIn(Array(values.prefix(40)), .exact))),
            savedAtMilliseconds: 0)
        try SubscriptionRules.check(subscription)
        subscription.predicate = try Predicate(PredicateTerm("a", .isIn(values, .exact)))
        let error = #expect(throws: RegistryError.self) { try SubscriptionRules.check(subscription) }
        #expect(error?.code == .invalid)
        #expect(error?.message.contains("as text") == true)
    }
}
