import Essentials
internal import JSON
import Notifications

/// The members that an object of an event or of the registry may have.
///
/// A member that is none of them is an error and not ignored: it is more likely misspelt than meant for somebody else,
/// and a push without it says something else than its publisher wanted.
struct MemberNames: Sendable {
    /// The names.
    let names: [StaticString]
    /// Names that are often written instead, and what to do about each.
    let advice: [String: String]
    /// Objects beside this one whose members are taken for members of this one.
    let neighbors: [(path: String, names: [StaticString])]

    init(
        _ names: [StaticString], advice: [String: String] = [:],
        neighbors: [(path: String, names: [StaticString])] = []
    ) {
        self.names = names
        self.advice = advice
        self.neighbors = neighbors
    }

    /// Returns what to do about a member that is not known.
    func advice(about name: String) -> String {
        if let advice = advice[name] { return advice }
        for neighbor in neighbors where neighbor.names.contains(where: { "\($0)" == name }) {
            return "it belongs into \(neighbor.path)"
        }
        return SpellingSuggestion.advice(about: name, among: names.map { "\($0)" })
    }
}

extension FieldReader {
    /// Refuses an object that has a member of another name.
    ///
    /// - Throws: `EventRejection` with `unknownField` and the name that was probably meant.
    func allowOnly(_ members: MemberNames) throws(EventRejection) {
        guard let name = object.firstMember(notAmong: members.names)?.key else { return }
        throw EventRejection(
            .unknownField, "\(path) has the unknown member \(name.excerpt); \(members.advice(about: name))")
    }
}
