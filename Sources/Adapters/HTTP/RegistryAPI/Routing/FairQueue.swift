/// Elements that wait for one worker, which takes one element of each owner in turn.
///
/// An owner may let a share wait, and all together a count. When all slots are taken, an owner with few of them gets
/// the last slot of the owner with the most, so that early owners do not keep others out.
struct FairQueue<Element> {
    /// The outcome for a new element.
    enum Placement {
        /// It waits.
        case waiting
        /// It waits in the slot of this one, which was the last of the owner with the most.
        case displacing(Element)
        /// It does not wait.
        case refused(FairQueueRefusal)
    }

    private let countMaximum: Int
    private let shareMaximum: Int
    private var waiting: [String: [Element]] = [:]
    /// The owners of waiting elements, the next one first.
    private var turns: [String] = []
    /// How many wait.
    private(set) var count = 0

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - countMaximum: how many may wait.
    ///   - shareMaximum: how many of one owner.
    init(countMaximum: Int, shareMaximum: Int) {
        self.countMaximum = max(1, countMaximum)
        self.shareMaximum = max(1, shareMaximum)
    }

    /// Lets an element wait behind the others of its owner, if there is a slot.
    mutating func append(_ element: Element, of owner: String) -> Placement {
        let own = waiting[owner]?.count ?? 0
        guard own < shareMaximum else { return .refused(.share) }
        var displaced: Element?
        if count >= countMaximum {
            guard let last = takeLast(ifMoreThan: own + 1) else { return .refused(.full) }
            displaced = last
        }
        if own == 0 { turns.append(owner) }
        waiting[owner, default: []].append(element)
        count += 1
        return displaced.map { .displacing($0) } ?? .waiting
    }

    /// Takes the first element of the owner whose turn it is; nil if nothing waits.
    mutating func popFirst() -> Element? {
        guard !turns.isEmpty else { return nil }
        let owner = turns.removeFirst()
        guard var elements = waiting.removeValue(forKey: owner), !elements.isEmpty else { return nil }
        let first = elements.removeFirst()
        count -= 1
        if !elements.isEmpty {
            waiting[owner] = elements
            turns.append(owner)
        }
        return first
    }

    /// Takes the last element of the owner with the most; of several, the one with the next turn.
    ///
    /// - Parameter minimum: how many the owner has to have more than; at least 1, so that one stays.
    /// - Returns: the element, or nil if no owner has so many.
    private mutating func takeLast(ifMoreThan minimum: Int) -> Element? {
        var greediest: (owner: String, count: Int)?
        for owner in turns {
            let count = waiting[owner]?.count ?? 0
            if count > max(minimum, greediest?.count ?? 0) { greediest = (owner, count) }
        }
        guard let greediest, let last = waiting[greediest.owner]?.popLast() else { return nil }
        count -= 1
        return last
    }
}

/// Why something may not wait in a queue.
enum FairQueueRefusal: Hashable, Sendable {
    /// Its owner lets too many wait.
    case share
    /// There are too many, and its owner has no fewer than others.
    case full
}
