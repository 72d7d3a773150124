import ChangeEvents
import JSON

@testable import PredicateIndex
@testable import Predicates

/// Reads the first part as a condition in each of the four languages and as canonical bytes, and the other parts as
/// records.
///
/// A predicate must come back from its bytes, its text and its CloudKit filters, and the index must find it exactly
/// where `Predicate.matches` says that it holds.
struct PredicateFuzzTarget: FuzzTarget {
    private static let recordsMaximum = 16

    func run(_ input: FuzzInput) throws(FuzzFailure) {
        let parser = JSONParser(depthMaximum: 32)
        var records: [RecordFields] = [RecordFields()]
        for part in input.parts.dropFirst().prefix(4) {
            guard let object = (try? parser.parse(part))?.object, let fields = try? RecordFields(json: object) else {
                continue
            }
            records.append(fields)
        }
        var predicates: [Predicate] = []
        if let predicate = try? Predicate(parsing: String(decoding: input.text, as: UTF8.self)) {
            predicates.append(predicate)
        }
        if let predicate = try? Predicate(canonicalBytes: input.text) { predicates.append(predicate) }
        if let json = try? parser.parse(input.text) {
            if let predicate = try? Predicate(filterBy: json) { predicates.append(predicate) }
            if let predicate = try? Predicate(filterGroup: json) { predicates.append(predicate) }
            if let predicate = try? Predicate(filterInput: json) { predicates.append(predicate) }
        }
        for predicate in predicates {
            try checkForms(predicate)
            try checkIndex(predicate, records + Self.records(near: predicate))
        }
    }

    private func checkForms(_ predicate: Predicate) throws(FuzzFailure) {
        let read = try? Predicate(canonicalBytes: predicate.canonicalBytes)
        try promise(read == predicate, "\(predicate) does not come back from its canonical bytes")
        let text = predicate.description
        if text.utf8.count <= PredicateLimits.writtenBytesMaximum {
            try promise((try? Predicate(parsing: text)) == predicate, "\(text) does not come back from its text")
        }
        var writer = JSONWriter()
        guard predicate.writeFilterBy(to: &writer), writer.bytes.count <= PredicateLimits.writtenBytesMaximum else {
            return
        }
        guard let json = try? JSONParser().parse(writer.bytes), let filters = try? Predicate(filterBy: json) else {
            throw FuzzFailure("\(String(decoding: writer.bytes, as: UTF8.self)) is refused as filterBy")
        }
        try promise(filters == predicate, "\(predicate) does not come back from its filterBy")
    }

    private func checkIndex(_ predicate: Predicate, _ records: [RecordFields]) throws(FuzzFailure) {
        let index = SubscriptionIndex(hashSeed: 7)
        // Each conjunction alone as well, so that predicates with terms in common lie side by side.
        var subscriptions = [predicate] + predicate.conjunctions.prefix(6).map { Predicate(normalized: [$0]) }
        subscriptions += [.always, .never]
        let scope = MatchScope(application: "chat", recordType: nil)
        for (row, subscription) in subscriptions.enumerated() {
            index.insert(Int64(row), scope: scope, operations: .all, predicate: subscription)
        }
        for record in records.prefix(Self.recordsMaximum) {
            let change = MatchInput(application: "chat", recordType: "Song", operations: .created, fields: record)
            var found: [Int64] = []
            let outcome = index.match(change, into: &found, stepsMaximum: .max)
            let expected = subscriptions.indices.filter { subscriptions[$0].matches(record) }.map { Int64($0) }
            try promise(
                outcome.isComplete && found.sorted() == expected,
                "\(predicate): the index finds \(found.sorted()) for \(record), and not \(expected)")
        }
        for row in subscriptions.indices {
            try promise(index.remove(Int64(row)), "row \(row) of \(predicate) was not there")
        }
        try promise(index.count == 0 && index.isEmptyInside, "\(predicate) leaves something in the index")
    }

    /// Records that have the fields of the predicate, with values that its terms ask for.
    private static func records(near predicate: Predicate) -> [RecordFields] {
        predicate.conjunctions.prefix(4).flatMap { terms in
            (0..<3).map { variant in
                var fields = RecordFields()
                for term in terms.prefix(16) where !term.path.isEmpty {
                    let values = values(near: term.test)
                    if !values.isEmpty { fields[term.path] = values[min(variant, values.count - 1)] }
                }
                return fields
            }
        }
    }

    private static func values(near test: FieldTest) -> [FieldValue] {
        switch test {
        case .equals(let value, _): [value, .list([value])]
        case .isIn(let values, _): Array(values.prefix(3))
        case .isInRange(let range): [range.lower?.value, range.upper?.value].compactMap { $0 }
        case .beginsWith(let text), .containsText(let text), .listMemberBeginsWith(let text):
            [.of(text), .of(text + "x"), .list([.of(text + "x")])]
        case .listContains(let value, _): [.list([value]), value]
        case .listContainsAny(let values, _): [.list(Array(values.prefix(2)))]
        case .containsAnyToken(let words): words.prefix(2).map { .of("x \($0) y") }
        case .isWithin(let centre, _): [.location(centre)]
        }
    }
}
