import Notifications

/// Decides which requests wait for notifications, and which end when there are too many; pure of sockets and clocks.
///
/// The newest of a client's requests gets the next notification: a client that lost its connection, perhaps unnoticed,
/// comes again on another. The older ones stay a while and end without a notification. So two tabs of a browser take
/// turns slowly, instead of ending each other at once. The older ones never get a notification again, because their
/// clients may be gone. More of one client than a few are turned away.
///
/// When all slots are taken, the address that has most of them gives one up to an address that has fewer. So no client
/// keeps others out, and clients behind one proxy may take all slots.
struct LongPollSlots<Poll> {
    /// The decision about a new request.
    enum Arrival {
        /// It waits. Another one, if there is one, gives way to it, and has to be answered.
        case waits(insteadOf: Poll?)
        /// Its address has its share of the slots.
        case full
        /// Its client has as many requests waiting as it may have.
        case tooManyOfClient
    }

    /// How many may wait, and for how long.
    struct Limits {
        /// How many requests may wait.
        var slotsMaximum: Int
        /// How many of one client.
        var perClientMaximum: Int
        /// How long a request waits.
        var waitNanoseconds: UInt64
        /// How long a request waits at least when a newer one of its client is there.
        var olderWaitNanoseconds: UInt64
    }

    private struct Slot {
        let poll: Poll
        let address: String
        let arrivedNanoseconds: UInt64
        /// Grows with each request.
        let number: UInt64
    }

    private struct Client {
        /// The request that gets the next notification.
        var newest: Slot?
        /// The earlier requests, the oldest first.
        var older: [Slot] = []

        var all: [Slot] { older + (newest.map { [$0] } ?? []) }
        var count: Int { older.count + (newest == nil ? 0 : 1) }
    }

    private let limits: Limits
    private var clients: [DeviceToken: Client] = [:]
    private var countsByAddress: [String: Int] = [:]
    private var lastNumber: UInt64 = 0
    /// How many requests wait.
    private(set) var count = 0

    init(_ limits: Limits) { self.limits = limits }

    /// The clients that have a request which gets the next notification.
    var tokens: [DeviceToken] { clients.filter { $0.value.newest != nil }.map(\.key) }

    // MARK: Coming

    /// A request came.
    mutating func arrived(
        _ poll: Poll, for token: DeviceToken, from address: String, nowNanoseconds: UInt64
    ) -> Arrival {
        guard clients[token]?.count ?? 0 < limits.perClientMaximum else { return .tooManyOfClient }
        var evicted: Poll?
        if count >= limits.slotsMaximum {
            guard let greediest = countsByAddress.max(by: { $0.value < $1.value }),
                greediest.value > countsByAddress[address, default: 0] + 1
            else { return .full }
            evicted = removeOldest(of: greediest.key)
        }
        var client = clients[token] ?? Client()
        if let before = client.newest { client.older.append(before) }
        lastNumber += 1
        client.newest = Slot(
            poll: poll, address: address, arrivedNanoseconds: nowNanoseconds, number: lastNumber)
        clients[token] = client
        count += 1
        countsByAddress[address, default: 0] += 1
        return .waits(insteadOf: evicted)
    }

    private mutating func removeOldest(of address: String) -> Poll? {
        var oldest: (token: DeviceToken, number: UInt64)?
        for (token, client) in clients {
            for slot in client.all where slot.address == address && slot.number < oldest?.number ?? .max {
                oldest = (token, slot.number)
            }
        }
        guard let oldest else { return nil }
        return remove(from: oldest.token) { $0.number == oldest.number }.first
    }

    // MARK: Going

    /// Takes out the request that gets a client's next notification.
    mutating func takeNewest(_ token: DeviceToken) -> Poll? {
        guard let slot = clients[token]?.newest else { return nil }
        clients[token]?.newest = nil
        left(token, [slot])
        return slot.poll
    }

    /// Takes out all requests of a client.
    mutating func takeAll(_ token: DeviceToken) -> [Poll] { remove(from: token) { _ in true } }

    /// Removes the requests whose clients have gone.
    mutating func takeAbandoned(_ isAbandoned: (Poll) -> Bool) -> [Poll] {
        removeEverywhere { slot, _ in isAbandoned(slot.poll) }
    }

    /// Takes out the requests that have waited for as long as they may.
    mutating func takeDone(nowNanoseconds now: UInt64) -> [Poll] {
        let limits = limits
        let olderWait = min(limits.olderWaitNanoseconds, limits.waitNanoseconds)
        return removeEverywhere { slot, isNewest in
            let wait = isNewest ? limits.waitNanoseconds : olderWait
            return now >= slot.arrivedNanoseconds && now - slot.arrivedNanoseconds >= wait
        }
    }

    private mutating func removeEverywhere(where isGone: (Slot, _ isNewest: Bool) -> Bool) -> [Poll] {
        var gone: [Poll] = []
        for (token, client) in clients {
            let newest = client.newest?.number
            gone += remove(from: token) { isGone($0, $0.number == newest) }
        }
        return gone
    }

    private mutating func remove(from token: DeviceToken, where isGone: (Slot) -> Bool) -> [Poll] {
        guard var client = clients[token] else { return [] }
        var gone: [Slot] = []
        client.older.removeAll { slot in
            guard isGone(slot) else { return false }
            gone.append(slot)
            return true
        }
        if let newest = client.newest, isGone(newest) {
            gone.append(newest)
            client.newest = nil
        }
        clients[token] = client
        left(token, gone)
        return gone.map(\.poll)
    }

    private mutating func left(_ token: DeviceToken, _ slots: [Slot]) {
        if clients[token]?.count == 0 { clients[token] = nil }
        count -= slots.count
        for slot in slots {
            let rest = countsByAddress[slot.address, default: 1] - 1
            countsByAddress[slot.address] = rest == 0 ? nil : rest
        }
    }
}
