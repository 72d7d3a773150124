import HTTPServer

/// How many wrong passwords may still be given: for a name from an address, and from an address for all names.
///
/// Only wrong passwords count, so colleagues behind one address do not take logins from each other, and guesses at one
/// name end before those at other names do. The tables are bounded (`RequestBudget`).
struct LoginBudget: Sendable {
    /// For a name from an address, in a second and at once.
    static let ofName = (perSecond: 1, atOnce: 10)
    /// From an address for all names, in a second and at once: guesses over many names end here.
    static let ofAddress = (perSecond: 4, atOnce: 40)
    private static let namesMaximum = 4_096

    private var names = RequestBudget(
        ratePerSecond: ofName.perSecond, burst: ofName.atOnce, bucketsMaximum: namesMaximum)
    private var addresses = RequestBudget(ratePerSecond: ofAddress.perSecond, burst: ofAddress.atOnce)

    /// Finds out when a password may be tried.
    ///
    /// - Parameters:
    ///   - name: the name of the user.
    ///   - share: the address, or its network of IPv6.
    ///   - now: the monotonic time.
    /// - Returns: in how many seconds; nil for now.
    mutating func waitSeconds(name: String, share: String, nowNanoseconds now: UInt64) -> Int? {
        let ofName = names.waitSeconds(Self.key(name, share), nowNanoseconds: now)
        let ofAddress = addresses.waitSeconds(share, nowNanoseconds: now)
        return [ofName, ofAddress].compactMap(\.self).max()
    }

    /// A password was wrong, or there is no such name.
    mutating func failed(name: String, share: String, nowNanoseconds now: UInt64) {
        _ = names.take(Self.key(name, share), nowNanoseconds: now)
        _ = addresses.take(share, nowNanoseconds: now)
    }

    private static func key(_ name: String, _ share: String) -> String { "\(share) \(name)" }
}

/// The passwords that wait to be verified, with everybody who waits for the answer.
///
/// A name, and an address, may fill a part of it only, so that guesses leave room for others.
struct LoginQueue {
    typealias Waiter = @Sendable (Result<PageUsers.Entry, PageProblem>) -> Void

    /// A password of a name from an address.
    struct Ticket: Hashable {
        let name: String
        let share: String
        /// A keyed hash of name and password.
        let digest: [UInt8]
    }

    /// The place of a request in the queue.
    enum Placement {
        /// The caller has to verify the password.
        case first
        /// The same password is being verified.
        case joined
        /// Too many wait: those of the name, of the address, or all together.
        case full
    }

    private static let countMaximum = 64
    private static let ofAddressMaximum = 32
    private static let ofNameMaximum = 4

    private var waiters: [Ticket: [Waiter]] = [:]

    /// Adds a request.
    mutating func append(_ ticket: Ticket, _ waiter: @escaping Waiter) -> Placement {
        if waiters[ticket] != nil {
            waiters[ticket]?.append(waiter)
            return .joined
        }
        let ofAddress = waiters.keys.filter { $0.share == ticket.share }
        let ofName = ofAddress.count { $0.name == ticket.name }
        guard waiters.count < Self.countMaximum, ofAddress.count < Self.ofAddressMaximum, ofName < Self.ofNameMaximum
        else { return .full }
        waiters[ticket] = [waiter]
        return .first
    }

    /// Removes a verified password, and says who waits for the answer.
    mutating func remove(_ ticket: Ticket) -> [Waiter] { waiters.removeValue(forKey: ticket) ?? [] }
}
