import Essentials
internal import Geography

/// Values as they are written.
extension PredicateParser {
    private static let expectedValue =
        "a value: 20, \"text\", TRUE, {1, 2}, date(\"2026-01-31T12:00:00Z\"), reference(\"name\"), bytes(\"base64\")"
        + " or location(52.5, 13.4)"

    mutating func parseValue(listDepth: Int = 0) throws(PredicateError) -> FieldValue {
        let start = token.start
        switch token.kind {
        case .text(let text):
            try advance()
            return .of(text)
        case .number(let value):
            try advance()
            return value
        case .word(.isTrue), .word(.yes):
            try advance()
            return .boolean(true)
        case .word(.isFalse), .word(.no):
            try advance()
            return .boolean(false)
        case .word(.null), .word(.nothing):
            throw lexer.fault(
                .invalidValue, at: start, "a missing field cannot be asked for; NOT holds where it is missing")
        case .symbol("{"): return .list(try parseMembers(listDepth: listDepth + 1))
        case .name(let name): return try parseCall(name)
        default: throw unexpected(Self.expectedValue)
        }
    }

    /// Values in braces.
    mutating func parseMembers(listDepth: Int = 0) throws(PredicateError) -> [FieldValue] {
        let start = token.start
        guard listDepth <= PredicateLimits.listDepthMaximum else {
            throw lexer.fault(
                .tooLarge, at: start, "more than \(PredicateLimits.listDepthMaximum) lists lie in each other")
        }
        try expect("{", "values in braces, such as {1, 2}")
        var members: [FieldValue] = []
        if try accept("}") { return members }
        repeat {
            guard members.count < PredicateLimits.intermediateTermsMaximum else {
                throw lexer.fault(.tooLarge, at: start, "there are too many values in these braces")
            }
            members.append(try parseValue(listDepth: listDepth))
        } while try accept(",")
        try expect("}", ", or }")
        return members
    }

    mutating func parseText() throws(PredicateError) -> String {
        guard case .text(let text) = token.kind else { throw unexpected("a text in quotes") }
        try advance()
        return text
    }

    /// A place: `{latitude, longitude}` or `location(latitude, longitude)`.
    mutating func parseLocation() throws(PredicateError) -> Location {
        let isCall = try accept(.name("location"))
        let close = isCall ? ")" : "}"
        try expect(isCall ? "(" : "{", "a place: {latitude, longitude}")
        return try parseCoordinates(close)
    }

    private mutating func parseCoordinates(_ close: String) throws(PredicateError) -> Location {
        let start = token.start
        let latitude = try parseDegrees()
        try expect(",")
        let longitude = try parseDegrees()
        try expect(close)
        guard let location = Location(latitude: latitude, longitude: longitude) else {
            throw lexer.fault(
                .invalidValue, at: start,
                "this is no place on the Earth; expected a latitude from -90 to 90 and a longitude from -180 to 180")
        }
        return location
    }

    private mutating func parseDegrees() throws(PredicateError) -> Double {
        guard case .number(let number) = token.kind else { throw unexpected("a number of degrees") }
        try advance()
        if case .double(let degrees) = number { return degrees }
        if case .integer(let degrees) = number { return Double(degrees) }
        return .nan
    }

    // MARK: - Functions

    private mutating func parseCall(_ name: String) throws(PredicateError) -> FieldValue {
        let start = token.start
        let unexpectedName = unexpected(Self.expectedValue)
        try advance()
        guard token.kind == .symbol("(") else { throw unexpectedName }
        try advance()
        switch name.lowercased() {
        case "location": return .location(try parseCoordinates(")"))
        case "date":
            if case .number(let number) = token.kind, let milliseconds = number.nearestInteger {
                try advance()
                try expect(")")
                return .date(milliseconds: milliseconds)
            }
            return try parseDate(")")
        case "cast":
            let date = try parseDate(",")
            guard try accept(.text("NSDate")) else { throw unexpected("\"NSDate\"") }
            try expect(")")
            return date
        case "reference":
            let recordName = try parseText()
            let zoneName = try accept(.symbol(",")) ? try parseText() : FieldValue.defaultZoneName
            try expect(")")
            return .reference(to: recordName, zoneName: zoneName)
        case "bytes":
            let textStart = token.start
            guard let bytes = try parseText().readingUTF8(Base64.decode) else {
                throw lexer.fault(.invalidValue, at: textStart, "this is no base64")
            }
            try expect(")")
            return .bytes(bytes)
        case "now":
            throw lexer.fault(
                .invalidValue, at: start, "now() would be another moment for each event; write a date(\"…\") instead")
        default:
            throw lexer.fault(
                .invalidSyntax, at: start,
                "there is no function \(name.excerpt); expected date, CAST, reference, bytes or location,"
                    + " or distanceToLocation:fromLocation:(…) < metres")
        }
    }

    private mutating func parseDate(_ close: String) throws(PredicateError) -> FieldValue {
        let start = token.start
        let expected = "an RFC 3339 timestamp such as \"2026-01-31T12:00:00Z\""
        guard case .text(let text) = token.kind else { throw unexpected(expected) }
        guard let milliseconds = text.readingUTF8(RFC3339.milliseconds) else {
            throw lexer.fault(.invalidValue, at: start, "\(token.found); expected \(expected)")
        }
        try advance()
        try expect(close)
        return .date(milliseconds: milliseconds)
    }
}
