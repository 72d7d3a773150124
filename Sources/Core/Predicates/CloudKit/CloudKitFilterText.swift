import Essentials
internal import Geography
internal import JSON

/// One filter of a CloudKit query, to be written as JSON; `CloudKitFilter` reads it back as the same term.
struct CloudKitFilterText {
    private let comparator: CloudKitComparator
    private let path: String
    private let value: FieldValue
    private let type: String?
    private var distanceMetres: Double?

    /// The filters that say the same as a term; nil if none do.
    static func filters(of term: PredicateTerm) -> [CloudKitFilterText]? {
        if case .isInRange(let range) = term.test { return term.isNegated ? nil : filters(of: range, term.path) }
        guard let (comparator, value) = comparison(of: term) else { return nil }
        return CloudKitFilterText(comparator, term.path, value, distanceMetres: distance(of: term)).map { [$0] }
    }

    private init?(
        _ comparator: CloudKitComparator, _ path: String, _ value: FieldValue, distanceMetres: Double? = nil
    ) {
        switch Self.type(of: value) {
        case .unknown: return nil
        case .untold: type = nil
        case .told(let name): type = name
        }
        self.comparator = comparator
        self.path = path
        self.value = value
        self.distanceMetres = distanceMetres
    }

    private static func distance(of term: PredicateTerm) -> Double? {
        if case .isWithin(_, let radiusMetres) = term.test { radiusMetres } else { nil }
    }

    private static func filters(of range: ValueRange, _ path: String) -> [CloudKitFilterText]? {
        var filters: [CloudKitFilterText?] = []
        if let lower = range.lower {
            filters.append(.init(lower.isIncluded ? .greaterThanOrEquals : .greaterThan, path, lower.value))
        }
        if let upper = range.upper {
            filters.append(.init(upper.isIncluded ? .lessThanOrEquals : .lessThan, path, upper.value))
        }
        let known = filters.compactMap { $0 }
        return known.count == filters.count ? known : nil
    }

    /// The comparator of a term and its operand; CloudKit has no word for some terms.
    private static func comparison(of term: PredicateTerm) -> (CloudKitComparator, FieldValue)? {
        switch (term.test, term.isNegated) {
        case (.equals(let value, .exact), let isNegated) where hasCase(value):
            // Its EQUALS folds case, and its IN does not.
            isList(value) ? nil : (isNegated ? .notIn : .isIn, .list([value]))
        case (.equals(let value, _), let isNegated): (isNegated ? .notEquals : .equals, value)
        case (.isIn(let values, let folding), let isNegated):
            isAnyCase(values, folding) || values.contains(where: isList)
                ? nil : (isNegated ? .notIn : .isIn, .list(values))
        case (.beginsWith(let text), let isNegated): (isNegated ? .notBeginsWith : .beginsWith, .string(text))
        case (.listContains(let value, let folding), let isNegated):
            isAnyCase([value], folding) || isList(value)
                ? nil : (isNegated ? .notListContains : .listContains, value)
        case (.listContainsAny(let values, let folding), let isNegated):
            isAnyCase(values, folding) || values.contains(where: isList)
                ? nil : (isNegated ? .notListContainsAny : .listContainsAny, .list(values))
        case (.listMemberBeginsWith(let text), let isNegated):
            (isNegated ? .notListMemberBeginsWith : .listMemberBeginsWith, .string(text))
        case (.containsAnyToken(let words), false): (.containsAnyTokens, .string(words.joined(separator: " ")))
        case (.isWithin(let centre, _), false): (.near, .location(centre))
        case (.isInRange, _), (.containsText, _), (.containsAnyToken, true), (.isWithin, true): nil
        }
    }

    private static func isList(_ value: FieldValue) -> Bool { if case .list = value { true } else { false } }

    private static func hasCase(_ value: FieldValue) -> Bool {
        switch value {
        case .string: true
        case .list(let members): members.contains(where: hasCase)
        default: false
        }
    }

    private static func isAnyCase(_ values: [FieldValue], _ folding: TextFolding) -> Bool {
        folding != .exact && values.contains(where: hasCase)
    }

    // MARK: - Values

    private enum TypeName {
        case told(String)
        case untold
        case unknown
    }

    private static func type(of value: FieldValue) -> TypeName {
        guard case .list(let members) = value else { return element(value).map { .told($0) } ?? .unknown }
        let names = Set(members.map(element))
        guard !names.contains(nil) else { return .unknown }
        if names.count == 1, let name = names.first ?? nil { return .told(name + "_LIST") }
        // Without a type, dates and bytes would be read as numbers and texts.
        return names.contains("TIMESTAMP") || names.contains("BYTES") ? .unknown : .untold
    }

    private static func element(_ value: FieldValue) -> String? {
        let element: CloudKitType.Element? =
            switch value {
            case .string: .string
            case .integer, .boolean: .integer
            case .double: .double
            case .date: .timestamp
            case .bytes: .bytes
            case .reference: .reference
            case .location: .location
            case .list: nil
            }
        return element?.rawValue
    }

    /// Writes the filter.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("comparator", comparator.rawValue)
        if !path.isEmpty { writer.member("fieldName", path) }
        writer.object("fieldValue") { writer in
            writer.key("value")
            Self.write(value, to: &writer)
            writer.member("type", type)
        }
        writer.member("distance", distanceMetres)
        writer.endObject()
    }

    private static func write(_ value: FieldValue, to writer: inout JSONWriter) {
        switch value {
        case .string(let text): writer.string(text)
        case .integer(let number), .date(let number): writer.integer(number)
        case .double(let number): writer.double(number)
        case .boolean(let isTrue): writer.boolean(isTrue)
        case .bytes(let bytes): writer.string(Base64.encode(bytes))
        case .reference(let recordName, let zoneName):
            writer.beginObject()
            writer.member("recordName", recordName)
            if zoneName != FieldValue.defaultZoneName {
                writer.object("zoneID") { writer in writer.member("zoneName", zoneName) }
            }
            writer.endObject()
        case .location(let place):
            writer.beginObject()
            writer.member("latitude", place.latitude)
            writer.member("longitude", place.longitude)
            writer.endObject()
        case .list(let members):
            writer.beginArray()
            for member in members { write(member, to: &writer) }
            writer.endArray()
        }
    }
}
