/// Decides the order in which the addresses of a name are tried, so that connections spread over them: a pure value.
///
/// APNs answers with about eight addresses. A token may get no answer from one of them while the others answer, and an
/// address may be down. So no two connections go to the same address while another is free, and addresses that failed
/// lately come last.
public struct AddressBook: Sendable {
    /// How many addresses are remembered to have failed; names of large services answer with ever new ones.
    public static let failuresMaximum = 64

    private var failed: Set<String> = []

    /// Creates a book in which no address has failed.
    public init() {}

    /// An address could not be reached, or did not speak as it should.
    public mutating func failed(_ address: String) {
        if failed.count >= Self.failuresMaximum { failed = [] }
        failed.insert(address)
    }

    /// A connection to an address was made.
    public mutating func succeeded(_ address: String) { failed.remove(address) }

    /// The order of trial.
    ///
    /// - Parameters:
    ///   - addresses: the present addresses of the name.
    ///   - used: the addresses of the connections that there are.
    ///   - rotation: a number that differs from one connection to the next, so that each begins at another address.
    /// - Returns: the indices in `addresses`: addresses that failed lately last, those with the fewest connections
    ///   first.
    public func order(_ addresses: [String], used: [String], rotation: Int) -> [Int] {
        guard !addresses.isEmpty else { return [] }
        let count = addresses.count
        let uses = addresses.map { address in used.count { $0 == address } }
        let isFailed = addresses.map { failed.contains($0) }
        return addresses.indices.sorted { left, right in
            let leftRank = (left - rotation % count + count) % count
            let rightRank = (right - rotation % count + count) % count
            return (isFailed[left] ? 1 : 0, uses[left], leftRank) < (isFailed[right] ? 1 : 0, uses[right], rightRank)
        }
    }
}
