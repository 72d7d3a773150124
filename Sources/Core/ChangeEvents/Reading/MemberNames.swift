import Essentials
internal import JSON
public import Notifications

/// The members that an object of an event or of the registry may have.
///
/// An unknown member is an error and not ignored: it is probably misspelt, and the push would lack something that its
/// publisher wanted.
public struct MemberNames: Sendable {
    /// The names.
    public let names: [StaticString]
    /// Names that are often written instead, and what to do about each.
    public let advice: [String: String]
    /// Objects beside this one whose members are taken for members of this one.
    let neighbors: [(path: String, names: [StaticString])]

    /// Names the members of an object.
    public init(
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
    public func allowOnly(_ members: MemberNames) throws(EventRejection) {
        guard let name = object.firstMember(notAmong: members.names)?.key else { return }
        throw EventRejection(
            .unknownField, "\(path) has the unknown member \(name.excerpt); \(members.advice(about: name))")
    }
}

/// Finds the known name that a misspelt one was probably meant to be.
public enum SpellingSuggestion {
    /// Longer names get no suggestion: comparing takes time in proportion to the length, and names come from outside.
    private static let nameBytesMaximum = 64

    /// Returns the known name that is the fewest typing errors away, if it is near enough to be worth a mention.
    ///
    /// A name that differs only in case, hyphens, underscores or the prefix `apns-` is always near enough.
    ///
    /// - Parameters:
    ///   - name: the written name.
    ///   - known: the names that exist.
    /// - Returns: the nearest, the first of several; nil if even that differs in more than a third of its letters.
    public static func nearest(to name: String, among known: [String]) -> String? {
        guard name.utf8.count <= nameBytesMaximum else { return nil }
        let letters = letters(of: name)
        if let same = known.first(where: { self.letters(of: $0) == letters }) { return same }
        let scored = known.map { (name: $0, distance: distance(Array(name.utf8), Array($0.utf8))) }
        guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, max(name.utf8.count, best.name.utf8.count) / 3) ? best.name : nil
    }

    /// Returns what to do about an unknown name, for the end of a message: the nearest known one, else all of them.
    public static func advice(about name: String, among known: [String]) -> String {
        nearest(to: name, among: known).map { "did you mean \($0)?" }
            ?? "its members are \(known.joined(separator: ", "))"
    }

    private static func letters(of name: String) -> String {
        let letters = name.lowercased().filter { $0 != "-" && $0 != "_" }
        return name.hasPrefix("apns-") ? String(letters.dropFirst(4)) : letters
    }

    /// The number of letters to insert, remove, replace or swap with their neighbour to turn one into the other
    /// (optimal string alignment).
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let replaced = previous[column] + (left[row] == right[column] ? 0 : 1)
                var best = min(replaced, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, beforePrevious[column - 1] + 1)
                }
                current.append(best)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[right.count]
    }
}
