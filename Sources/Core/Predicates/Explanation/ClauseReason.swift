internal import Geography

/// Says why a term holds for a record, or does not.
enum ClauseReason {
    /// How much of a value is shown, in characters.
    private static let valueCharactersMaximum = 120

    static func text(of term: PredicateTerm, for record: RecordFields) -> String {
        if term.path.isEmpty { return searchReason(term.test, record) }
        guard let value = record[term.path] else {
            return "the record has no \(PredicatePrinter.text(ofPath: term.path))"
        }
        let text = "the record has \(shown(value))"
        return note(on: value, for: term.test).map { "\(text), \($0)" } ?? text
    }

    // MARK: - Remarks

    private static func note(on value: FieldValue, for test: FieldTest) -> String? {
        switch test {
        case .equals(let wanted, .exact): caseNote([wanted], value)
        case .isIn(let wanted, .exact): caseNote(wanted, value)
        case .equals, .isIn: nil
        case .isInRange(let range): orderNote(range, value)
        case .beginsWith, .containsText: isText(value) ? nil : "which is no text"
        case .listContains, .listContainsAny, .listMemberBeginsWith: isList(value) ? nil : "which is no list"
        case .containsAnyToken(let words): searchNote(words, value)
        case .isWithin(let centre, _): distanceNote(centre, value)
        }
    }

    /// Values that differ in nothing but upper and lower case look the same to a person in a hurry.
    private static func caseNote(_ wanted: [FieldValue], _ value: FieldValue) -> String? {
        let differsInCase =
            !wanted.contains { $0.isEqual(to: value, .exact) }
            && wanted.contains { $0.isEqual(to: value, .caseInsensitive) }
        return differsInCase ? "and upper and lower case count" : nil
    }

    private static func orderNote(_ range: ValueRange, _ value: FieldValue) -> String? {
        guard let bound = range.lower ?? range.upper, value.order(against: bound.value) == nil else { return nil }
        return "which cannot be ordered against \(shown(bound.value))"
    }

    private static func searchNote(_ words: [String], _ value: FieldValue) -> String {
        let found = words.filter { FieldTest.containsAnyToken([$0]).passes(value) }
        if found.isEmpty { return isText(value) || isList(value) ? "without such a word" : "which is no text" }
        return "with \(found.map { PredicatePrinter.text(of: .string($0)) }.joined(separator: ", ")) in it"
    }

    private static func distanceNote(_ centre: Location, _ value: FieldValue) -> String {
        guard case .location(let place) = value else { return "which is no place" }
        let metres = centre.distanceMetres(to: place)
        // To the millimetre, so that it can be compared with the radius.
        return "which is \(PredicatePrinter.text(of: (metres * 1000).rounded() / 1000)) metres away"
    }

    private static func searchReason(_ test: FieldTest, _ record: RecordFields) -> String {
        guard let index = record.values.firstIndex(where: test.passes) else {
            return "no field of the record has such a word"
        }
        let value = record.values[index]
        return "\(PredicatePrinter.text(ofPath: record.paths[index])) is \(shown(value))"
    }

    // MARK: - Values

    private static func isText(_ value: FieldValue) -> Bool { if case .string = value { true } else { false } }

    private static func isList(_ value: FieldValue) -> Bool { if case .list = value { true } else { false } }

    private static func shown(_ value: FieldValue) -> String {
        let text = PredicatePrinter.text(of: value)
        return text.count <= valueCharactersMaximum ? text : "\(text.prefix(valueCharactersMaximum))…"
    }
}
