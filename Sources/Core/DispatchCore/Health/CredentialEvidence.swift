import Essentials

/// The evidence about the credentials in the answers of one scope.
struct CredentialEvidence: Sendable {
    /// How many addresses have to be refused in a row where others were accepted lately.
    static let addressesAfterProof = 8
    /// The same of addresses that were accepted before.
    static let addressesAcceptedBefore = 2
    /// How many refusals are enough where nothing was accepted lately.
    static let refusalsWithoutProof = 2
    /// How many accepted addresses are remembered.
    private static let addressesMaximum = 64

    /// When it accepted the credentials last.
    private(set) var accepted: MonotonicTime?
    /// When it answered last.
    private(set) var heard = MonotonicTime(nanoseconds: 0)
    /// Since when it is paused; nil if it is not.
    private(set) var pausedSince: MonotonicTime?
    /// When its last probe went out.
    var probed = MonotonicTime(nanoseconds: 0)
    /// How many probes are out, as far as is known; one that is not answered stays among them.
    var probesOut = 0
    /// Its probes while the key is accepted elsewhere.
    var probes = ProbeBudget()
    /// The different addresses that were refused since an acceptance, up to `addressesAfterProof`.
    private var refusedInARow: [UInt64] = []
    /// How many of them were accepted before.
    private var acceptedBeforeCount = 0
    /// How many refusals there were since an acceptance.
    private var refusalCount = 0
    /// Whether a refusal since an acceptance spoke for all addresses.
    private var isRefusedForAll = false
    /// Addresses that were accepted, each at a place by its digest; made at the first.
    private var acceptedAddresses: [UInt64] = []
    /// How many acceptances filled a place of theirs, up to `addressesAfterProof`.
    private var placesFilled = 0

    /// Whether only one address was refused, so that it keeps no other back.
    var isOneAddressRefused: Bool { refusedInARow.count == 1 && !isRefusedForAll }

    /// Whether it is neither paused nor in doubt.
    var isWell: Bool { pausedSince == nil && refusedInARow.isEmpty }

    /// Whether it remembers so many accepted addresses that it misses nothing by noting few further ones.
    var remembersEnough: Bool { placesFilled >= Self.addressesAfterProof }

    /// Whether it has accepted an address that is not among the refused ones.
    private var hasAcceptedOthers: Bool { acceptedAddresses.contains { $0 != 0 && !refusedInARow.contains($0) } }

    /// Whether it has accepted the credentials lately.
    func isProven(at now: MonotonicTime) -> Bool {
        accepted.map { now.milliseconds(since: $0) < CredentialMonitor.proofMilliseconds } ?? false
    }

    /// Whether it has accepted an address, as far as that is remembered.
    func hasAccepted(_ address: UInt64) -> Bool {
        !acceptedAddresses.isEmpty && acceptedAddresses[Self.index(of: address)] == address
    }

    /// It accepted the credentials.
    ///
    /// - Returns: whether it was paused, which it is no more.
    mutating func accepted(_ address: UInt64, at now: MonotonicTime) -> Bool {
        accepted = now
        heard = now
        if acceptedAddresses.isEmpty { acceptedAddresses = Array(repeating: 0, count: Self.addressesMaximum) }
        let index = Self.index(of: address)
        if acceptedAddresses[index] != address {
            acceptedAddresses[index] = address
            placesFilled = min(placesFilled + 1, Self.addressesAfterProof)
        }
        if !refusedInARow.isEmpty {
            refusedInARow.removeAll()
            acceptedBeforeCount = 0
            refusalCount = 0
            isRefusedForAll = false
        }
        probesOut = 0
        return pausedSince.take() != nil
    }

    /// It refused the credentials, and is paused if that explains what was seen.
    mutating func refused(_ address: UInt64, speaksForAll: Bool, at now: MonotonicTime) {
        heard = now
        refusalCount = min(refusalCount + 1, Self.addressesAfterProof)
        if speaksForAll { isRefusedForAll = true }
        if !refusedInARow.contains(address), refusedInARow.count < Self.addressesAfterProof {
            refusedInARow.append(address)
            if hasAccepted(address) { acceptedBeforeCount += 1 }
        }
        guard pausedSince == nil, isRefused(at: now) else { return }
        pausedSince = now
        // The refused pushes are not the first probes.
        probed = now
        probes = ProbeBudget()
    }

    private func isRefused(at now: MonotonicTime) -> Bool {
        guard isProven(at: now), hasAcceptedOthers else {
            return isRefusedForAll || refusalCount >= Self.refusalsWithoutProof
        }
        return refusedInARow.count >= Self.addressesAfterProof || acceptedBeforeCount >= Self.addressesAcceptedBefore
    }

    private static func index(of address: UInt64) -> Int { Int(address % UInt64(addressesMaximum)) }
}

/// How many probes a paused scope may send: some at once, then two a minute.
///
/// With the refusals before the pause, a key that was never accepted costs at most ten requests a minute. One that was
/// accepted until now costs some more in the first minute: with fewer probes a few bad addresses would keep the good
/// ones back.
struct ProbeBudget: Sendable {
    /// After what time there is one more.
    static let intervalMilliseconds: Int64 = 30_000
    /// From how few probes on they are for addresses that were accepted before, as long as such come.
    private static let scarceMaximum = 2
    /// How long addresses that were not accepted before wait for one that was.
    private static let preferenceMilliseconds: Int64 = 1_000

    private var left = CredentialMonitor.probesMaximum
    /// Since when the number of probes is what it is.
    private var since: MonotonicTime?

    /// Takes a probe for an address, if there is one.
    mutating func take(wasAcceptedBefore: Bool, at now: MonotonicTime) -> Bool {
        refill(now)
        guard left > 0 else { return false }
        let waited = since.map { now.milliseconds(since: $0) } ?? Self.preferenceMilliseconds
        guard wasAcceptedBefore || left > Self.scarceMaximum || waited >= Self.preferenceMilliseconds else {
            return false
        }
        spend(now)
        return true
    }

    /// Counts a refusal that no probe was taken for.
    mutating func charge(at now: MonotonicTime) {
        refill(now)
        if left > 0 { spend(now) }
    }

    private mutating func spend(_ now: MonotonicTime) {
        left -= 1
        since = now
    }

    private mutating func refill(_ now: MonotonicTime) {
        guard let since, left < CredentialMonitor.probesMaximum else { return }
        let more = now.milliseconds(since: since) / Self.intervalMilliseconds
        guard more > 0 else { return }
        left = Int(min(Int64(CredentialMonitor.probesMaximum), Int64(left) + more))
        self.since = since.advanced(byMilliseconds: UInt64(more * Self.intervalMilliseconds))
    }
}

/// The addresses that were refused lately, each with a ladder of its own.
struct RefusedAddresses: Sendable {
    private struct Entry: Sendable {
        var level: Int
        /// Until when the address gets no push.
        var until: MonotonicTime
    }

    /// The most addresses that are remembered; a further one takes the place of the one whose wait ends first.
    static let addressesMaximum = 256
    /// How long an address waits after each refusal, in seconds; the last one repeats.
    static let ladderSeconds = [1, 5, 30, 120, 600]
    /// How long a refusal is remembered after its wait.
    private static let memoryMilliseconds: Int64 = 60_000

    private var entries: [UInt64: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    func contains(_ address: UInt64) -> Bool { !entries.isEmpty && entries[address] != nil }

    /// How long a push to an address has to wait; nil if it may go out.
    func secondsToWait(_ address: UInt64, at now: MonotonicTime) -> Int? {
        guard let entry = entries[address], now < entry.until else { return nil }
        // The first refusal keeps no other push back: most services err for a moment only.
        return entry.level == 1 ? nil : Int(clamping: entry.until.milliseconds(since: now) / 1_000) + 1
    }

    /// Notes a refusal.
    ///
    /// - Returns: how long the address waits, in seconds.
    mutating func refused(_ address: UInt64, at now: MonotonicTime) -> Int {
        if entries.count >= Self.addressesMaximum, entries[address] == nil,
            let soonest = entries.min(by: { ($0.value.until, $0.key) < ($1.value.until, $1.key) })
        {
            entries[soonest.key] = nil
        }
        // Pushes that were out together are one refusal.
        if let entry = entries[address], now < entry.until {
            return max(1, Int(clamping: entry.until.milliseconds(since: now) / 1_000))
        }
        let level = (entries[address]?.level ?? 0) + 1
        let seconds = Self.ladderSeconds[min(level, Self.ladderSeconds.count) - 1]
        entries[address] = Entry(level: level, until: now.advanced(byMilliseconds: UInt64(seconds) * 1_000))
        return seconds
    }

    /// A push to an address was accepted.
    mutating func accepted(_ address: UInt64) {
        if !entries.isEmpty { entries[address] = nil }
    }

    /// Forgets refusals whose wait is long over.
    mutating func forget(at now: MonotonicTime) {
        entries = entries.filter { now.milliseconds(since: $0.value.until) < Self.memoryMilliseconds }
    }
}
