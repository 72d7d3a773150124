import Essentials
internal import JSON
internal import UnicodeText

/// One filter of a CloudKit query, read from JSON.
struct CloudKitFilter {
    private let path: String
    private let comparator: CloudKitComparator
    /// The path of the field; empty for all of them.
    private let fieldPath: String
    private let value: FieldValue
    private let distanceMetres: Double?

    private static let members: [StaticString] = [
        "comparator", "fieldName", "systemFieldName", "fieldValue", "distance",
    ]

    init(_ filter: JSONValue, path: String) throws(PredicateError) {
        guard let object = filter.object else {
            throw PredicateFault.mismatch(path, filter, "a filter: an object with comparator, fieldName and fieldValue")
        }
        try PredicateFault.allow(Self.members, in: object, path)
        self.path = path
        comparator = try Self.comparator(object, path)
        fieldPath = try Self.fieldPath(object, path, comparator)
        distanceMetres = try Self.distance(object, path, comparator)
        guard let value = object["fieldValue"], !value.isNull else {
            throw PredicateFault.missing("\(path).fieldValue", "an object with value and type")
        }
        self.value = try Self.fieldValue(value, "\(path).fieldValue", comparator)
    }

    /// The predicate of the filter.
    func predicate() throws(PredicateError) -> Predicate {
        try PredicateFault.locating("\(path).fieldValue") { () throws(PredicateError) in
            switch comparator {
            case .equals: try single(.equals(value, .caseInsensitive))
            case .notEquals: try single(.equals(value, .caseInsensitive), isNegated: true)
            case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals: try single(try range())
            case .near: try single(try circle())
            case .isIn: try single(.isIn(members, .exact))
            case .notIn: try single(.isIn(members, .exact), isNegated: true)
            case .beginsWith: try single(.beginsWith(try text()))
            case .notBeginsWith: try single(.beginsWith(try text()), isNegated: true)
            case .listMemberBeginsWith: try single(.listMemberBeginsWith(try text()))
            case .notListMemberBeginsWith: try single(.listMemberBeginsWith(try text()), isNegated: true)
            case .listContains: try single(.listContains(value, .exact))
            case .notListContains: try single(.listContains(value, .exact), isNegated: true)
            case .listContainsAny: try single(.listContainsAny(members, .exact))
            case .notListContainsAny: try single(.listContainsAny(members, .exact), isNegated: true)
            case .listContainsAll: try Predicate(anyOf: [all()])
            case .notListContainsAll: try Predicate(anyOf: [all()]).negated()
            case .containsAnyTokens: try single(.containsAnyToken(try words()))
            case .containsAllTokens:
                try Predicate(anyOf: [try words().map { PredicateTerm(fieldPath, .containsAnyToken([$0])) }])
            }
        }
    }

    // MARK: - Tests

    private func single(_ test: FieldTest, isNegated: Bool = false) throws(PredicateError) -> Predicate {
        try Predicate(PredicateTerm(fieldPath, test, isNegated: isNegated))
    }

    private var members: [FieldValue] { if case .list(let members) = value { members } else { [value] } }

    private func all() -> [PredicateTerm] { members.map { PredicateTerm(fieldPath, .listContains($0, .exact)) } }

    private func range() throws(PredicateError) -> FieldTest {
        guard value.order(against: value) != nil else { throw wrongValue("a number, a date or a text") }
        let isIncluded = comparator == .lessThanOrEquals || comparator == .greaterThanOrEquals
        let isLower = comparator == .greaterThan || comparator == .greaterThanOrEquals
        let bound = ValueRange.Bound(value, isIncluded: isIncluded)
        return .isInRange(ValueRange(lower: isLower ? bound : nil, upper: isLower ? nil : bound))
    }

    private func circle() throws(PredicateError) -> FieldTest {
        guard case .location(let centre) = value else { throw wrongValue("a location") }
        guard let distanceMetres else {
            throw PredicateFault.missing("\(path).distance", "a number of metres")
        }
        return .isWithin(centre, radiusMetres: distanceMetres)
    }

    private func text() throws(PredicateError) -> String {
        guard case .string(let text) = value else { throw wrongValue("a string") }
        return text
    }

    private func words() throws(PredicateError) -> [String] {
        var words: [String] = []
        for member in members {
            guard case .string(let text) = member else { throw wrongValue("a string of words") }
            words += SearchTokens.of(text, countMaximum: PredicateLimits.wordsMaximum + 1)
        }
        guard !words.isEmpty else {
            throw PredicateError(
                .invalidValue, at: .member("\(path).fieldValue.value"),
                "there is no word to search for; words such as \"the\" are ignored")
        }
        return words
    }

    private func wrongValue(_ expected: String) -> PredicateError {
        PredicateError(
            .invalidValue, at: .member("\(path).fieldValue"), "\(comparator.rawValue) compares with \(expected)")
    }

    // MARK: - Reading

    private static func comparator(_ object: JSONObject, _ path: String) throws(PredicateError) -> CloudKitComparator {
        let expected = "one of \(CloudKitComparator.allCases.map(\.rawValue).joined(separator: ", "))"
        guard let value = object["comparator"], !value.isNull else {
            throw PredicateFault.missing("\(path).comparator", expected)
        }
        guard let name = value.string else { throw PredicateFault.mismatch("\(path).comparator", value, expected) }
        guard let comparator = CloudKitComparator(name: name) else {
            throw PredicateError(
                .invalidOperator, at: .member("\(path).comparator"), "found \(name.excerpt); expected \(expected)")
        }
        return comparator
    }

    private static func fieldPath(
        _ object: JSONObject, _ path: String, _ comparator: CloudKitComparator
    ) throws(PredicateError) -> String {
        // CloudKit JS has another member for the fields that every record has.
        let members = (["fieldName", "systemFieldName"] as [StaticString]).filter { object[$0]?.isNull == false }
        guard members.count < 2 else {
            throw PredicateError(
                .invalidPath, at: .member(path), "it has fieldName and systemFieldName; give one of them")
        }
        if let member = members.first, let name = object[member] {
            return try PredicateFault.fieldPath(name, at: "\(path).\(member)")
        }
        guard comparator.searches else {
            throw PredicateFault.missing(
                "\(path).fieldName", "the name of a field; only searches for words can do without")
        }
        return ""
    }

    private static func distance(
        _ object: JSONObject, _ path: String, _ comparator: CloudKitComparator
    ) throws(PredicateError) -> Double? {
        guard let value = object["distance"], !value.isNull else { return nil }
        guard comparator == .near else {
            throw PredicateError(
                .invalidOperator, at: .member("\(path).distance"), "only the comparator NEAR has a distance")
        }
        guard let metres = value.double, metres >= 0 else {
            throw PredicateFault.mismatch(
                "\(path).distance", value, "a number of metres, 0 or more", code: .invalidValue)
        }
        return metres
    }

    private static func fieldValue(
        _ json: JSONValue, _ path: String, _ comparator: CloudKitComparator
    ) throws(PredicateError) -> FieldValue {
        guard let value = json["value"] else { return try fieldValue(json, nil, path, comparator) }
        if let object = json.object { try PredicateFault.allow(["value", "type"], in: object, path) }
        let type = try type(json, "\(path).type", isList: value.kind == .array)
        return try fieldValue(value, type, "\(path).value", comparator)
    }

    private static func fieldValue(
        _ json: JSONValue, _ type: CloudKitType?, _ path: String, _ comparator: CloudKitComparator
    ) throws(PredicateError) -> FieldValue {
        if comparator.wantsList, json.kind != .array {
            throw PredicateFault.mismatch(
                path, json, "an array, with which \(comparator.rawValue) compares", code: .invalidValue)
        }
        let field: FieldValue?
        do throws(ValueMismatch) {
            if let type { field = try .typed(json, type) } else { field = try .plain(json) }
        } catch {
            throw PredicateFault.mismatch(error, under: path)
        }
        // Lists of records lose unsupported members; a predicate with such a member is refused.
        if case .list(let members) = field, members.count != json.array?.count {
            throw PredicateFault.mismatch(
                path, json, "an array of values, without null and arrays", code: .invalidValue)
        }
        guard let field else {
            throw PredicateFault.mismatch(path, json, "a value that a field can be compared with", code: .invalidValue)
        }
        try CloudKitValueMembers.check(json, path)
        return field
    }

    private static func type(
        _ json: JSONValue, _ path: String, isList: Bool
    ) throws(PredicateError) -> CloudKitType? {
        guard let type = json["type"], !type.isNull else { return nil }
        guard let name = type.string else { throw PredicateFault.mismatch(path, type, CloudKitType.expected) }
        guard let type = CloudKitType(name) else {
            throw PredicateError(
                .invalidValue, at: .member(path), "found \(name.excerpt); expected \(CloudKitType.expected)")
        }
        // Several clients name the type of the members where they mean that of the list.
        return isList ? type.ofList : type
    }
}

/// The comparators of CloudKit's filters (Apple, "CloudKit Web Services Reference", Filter Dictionary; CloudKit JS has
/// the last).
enum CloudKitComparator: String, CaseIterable {
    case equals = "EQUALS"
    case notEquals = "NOT_EQUALS"
    case lessThan = "LESS_THAN"
    case lessThanOrEquals = "LESS_THAN_OR_EQUALS"
    case greaterThan = "GREATER_THAN"
    case greaterThanOrEquals = "GREATER_THAN_OR_EQUALS"
    case near = "NEAR"
    case containsAllTokens = "CONTAINS_ALL_TOKENS"
    case isIn = "IN"
    case notIn = "NOT_IN"
    case containsAnyTokens = "CONTAINS_ANY_TOKENS"
    case listContains = "LIST_CONTAINS"
    case notListContains = "NOT_LIST_CONTAINS"
    case notListContainsAny = "NOT_LIST_CONTAINS_ANY"
    case beginsWith = "BEGINS_WITH"
    case notBeginsWith = "NOT_BEGINS_WITH"
    case listMemberBeginsWith = "LIST_MEMBER_BEGINS_WITH"
    case notListMemberBeginsWith = "NOT_LIST_MEMBER_BEGINS_WITH"
    case listContainsAll = "LIST_CONTAINS_ALL"
    case notListContainsAll = "NOT_LIST_CONTAINS_ALL"
    case listContainsAny = "LIST_CONTAINS_ANY"

    /// Reads the name of a comparator, also as CKTool JS writes three of them; nil if it is none.
    init?(name: String) {
        switch name {
        case "LIST_NOT_CONTAINS": self = .notListContains
        case "LIST_NOT_CONTAINS_ANY": self = .notListContainsAny
        case "LIST_NOT_CONTAINS_ALL": self = .notListContainsAll
        default: self.init(rawValue: name)
        }
    }

    /// Whether it compares with several values.
    var wantsList: Bool {
        switch self {
        case .isIn, .notIn, .listContainsAny, .notListContainsAny, .listContainsAll, .notListContainsAll: true
        default: false
        }
    }

    /// Whether it searches for words.
    var searches: Bool { self == .containsAllTokens || self == .containsAnyTokens }
}

/// Holds the objects in the value of a filter to the members that they may have.
///
/// Members of a place or a reference that do not matter (`altitude`, `action`, the owner of a zone) are allowed if they
/// have CloudKit's types. Records are read less strictly, because their other members are fields.
enum CloudKitValueMembers {
    private static let zone: [StaticString] = ["zoneName", "ownerRecordName", "ownerName", "zoneType"]

    /// Checks a value that has been read, and all within it.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - path: where it lies, for messages.
    /// - Throws: `PredicateError` with the path of the object that has another member, or one of them twice.
    static func check(_ value: JSONValue, _ path: String) throws(PredicateError) {
        if let array = value.array {
            for (index, member) in array.enumerated() { try check(member, "\(path)[\(index)]") }
        }
        guard let object = value.object else { return }
        if object.isLocation {
            try check(object, path, JSONObject.locationMembers, are: "a number") { $0.double != nil }
        } else if object.isReference {
            try PredicateFault.allow(JSONObject.referenceMembers, in: object, path)
            if let action = object["action"], !action.isNull, action.kind != .string {
                throw PredicateFault.mismatch("\(path).action", action, "a string", code: .invalidValue)
            }
            guard let zoneID = object["zoneID"]?.object else { return }
            try check(zoneID, "\(path).zoneID", zone, are: "a string") { $0.kind == .string }
        } else if let inner = object["value"] {
            try PredicateFault.allow(["value", "type"], in: object, path)
            try check(inner, "\(path).value")
        }
    }

    private static func check(
        _ object: JSONObject, _ path: String, _ names: [StaticString], are expected: String,
        _ isExpected: (JSONValue) -> Bool
    ) throws(PredicateError) {
        try PredicateFault.allow(names, in: object, path)
        for name in names {
            guard let value = object[name], !value.isNull, !isExpected(value) else { continue }
            throw PredicateFault.mismatch("\(path).\(name)", value, expected, code: .invalidValue)
        }
    }
}
