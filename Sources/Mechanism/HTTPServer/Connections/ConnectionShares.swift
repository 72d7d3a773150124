/// Who has how many of the connections.
struct ConnectionShares {
    /// What becomes of a connection that has come.
    enum Verdict: Equatable {
        case taken
        /// It is one too many for its address: one of the same address gives way, or it is refused.
        case addressFull
        /// All places are taken: any other gives way, or it waits.
        case full
    }

    let connectionsMaximum: Int
    /// Nil for no limit of each address.
    let perAddressMaximum: Int?
    /// The addresses that the limit is not for, because proxies are there.
    let unlimitedAddresses: Set<String>
    private(set) var count = 0
    private var countByShare: [String: Int] = [:]

    init(connectionsMaximum: Int, perAddressMaximum: Int?, unlimitedAddresses: Set<String>) {
        self.connectionsMaximum = connectionsMaximum
        self.perAddressMaximum = perAddressMaximum
        self.unlimitedAddresses = unlimitedAddresses
    }

    /// Whether there is a place for one more of an address.
    func verdict(_ address: ClientAddress) -> Verdict {
        if let perAddressMaximum, !unlimitedAddresses.contains(address.text),
            countByShare[address.share, default: 0] >= perAddressMaximum
        {
            return .addressFull
        }
        return count < connectionsMaximum ? .taken : .full
    }

    mutating func add(_ address: ClientAddress) {
        count += 1
        countByShare[address.share, default: 0] += 1
    }

    mutating func remove(_ address: ClientAddress) {
        guard let old = countByShare[address.share] else { return }
        count -= 1
        countByShare[address.share] = old > 1 ? old - 1 : nil
    }
}
