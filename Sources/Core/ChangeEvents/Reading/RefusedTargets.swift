public import Notifications

/// The entries of the target of a requested push that cannot be pushed to, beside others that can.
///
/// They become a dead letter of their own, which names them by their places: `deviceTokens[20]`. Such a name stands
/// where copies for retries have the name of a device, so a replay of the dead letter concerns these entries alone.
public struct RefusedTargets: Hashable, Sendable {
    /// The member that lists the target, for example `deviceTokens`.
    let member: String
    /// The places of the entries in the list, ascending, at least one.
    private(set) var places: [Int]
    /// The problem of the first wrong entry of the event.
    public let first: EventRejection
    private let firstPlace: Int

    /// Begins with an entry.
    init(member: String, place: Int, _ rejection: EventRejection) {
        self.member = member
        places = [place]
        first = rejection
        firstPlace = place
    }

    /// Adds a further entry.
    mutating func add(place: Int) { places.append(place) }

    /// The names of the entries in dead letters.
    public var names: [String] { places.map(name) }

    private func name(_ place: Int) -> String { "\(member)[\(place)]" }

    /// The entries that a copy of the event names; nil if it names none of them.
    public func among(_ names: [String]) -> RefusedTargets? {
        let names = Set(names)
        var some = self
        some.places.removeAll { !names.contains(name($0)) }
        return some.places.isEmpty ? nil : some
    }

    /// The problem, in a sentence.
    public var detail: String {
        let rest = places.count - 1
        let others = rest == 0 ? "" : "; \(rest) further entries are wrong, too"
        guard places.first == firstPlace else {
            return "data.\(name(places[0])) is wrong\(others). Of the first wrong entry of the event: \(first.message)"
        }
        return first.message + others
    }
}
