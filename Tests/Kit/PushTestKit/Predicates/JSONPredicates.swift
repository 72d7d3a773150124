import ChangeEvents
import JSON
public import Predicates

/// Predicates and records as JSON has them.
public enum JSONPredicates {
    /// The predicate of CloudKit's filters.
    public static func filterBy(_ json: String) throws -> Predicate {
        try Predicate(filterBy: try JSONParser().parse(json))
    }

    /// The predicate of AppSync's filter group.
    public static func filterGroup(_ json: String) throws -> Predicate {
        try Predicate(filterGroup: try JSONParser().parse(json))
    }

    /// The predicate of Amplify's filter input.
    public static func filterInput(_ json: String) throws -> Predicate {
        try Predicate(filterInput: try JSONParser().parse(json))
    }

    /// The fields of a record.
    public static func record(_ json: String) throws -> RecordFields {
        guard let object = try JSONParser().parse(json).object else { return RecordFields() }
        return try RecordFields(json: object)
    }

    /// The error, if there is one.
    public static func fault(_ body: () throws -> Predicate) -> PredicateError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? PredicateError
        }
    }

    /// A random document of a few words, of any shape.
    public static func random(
        _ words: [String], _ leaves: [String], using generator: inout some RandomNumberGenerator, depth: Int = 0
    ) -> String {
        switch Int.random(in: 0...(depth > 6 ? 0 : 3), using: &generator) {
        case 0: return leaves.randomElement(using: &generator) ?? "1"
        case 1:
            let members = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                random(words, leaves, using: &generator, depth: depth + 1)
            }
            return "[\(members.joined(separator: ","))]"
        default:
            let members = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                let name = words.randomElement(using: &generator) ?? "a"
                return "\"\(name)\":\(random(words, leaves, using: &generator, depth: depth + 1))"
            }
            return "{\(members.joined(separator: ","))}"
        }
    }
}
