import Essentials

/// Decides what happens to outcomes that the broker does not take: whether they are published again, or dropped so that
/// pushes go on.
///
/// A backend that lets its queue fill up must not stop the pushes of others. A queue that has just lost its leader, on
/// the other hand, refuses for some seconds only. So refused outcomes are published again until the exchange has
/// refused for `patienceMilliseconds`. After that each is dropped at its first refusal, until the exchange has refused
/// nothing for as long again, at least ten seconds. While the exchange does not exist, one event's outcomes are
/// published in that time, to try it, because each attempt costs the connection.
///
/// While the broker takes no messages at all, because it has run out of memory or disk, outcomes wait in the registry
/// (`OutcomeOutbox`). Where that is not possible, deliveries wait as long as for a refusal, at least ten seconds, and
/// then for no outcomes until it takes messages again. A lost connection is waited for: its deliveries come again in
/// any case.
struct OutcomeFlow: Sendable {
    /// The decision about a message that the broker did not take.
    enum Verdict: Hashable, Sendable {
        case publishAgain
        case drop
    }

    private enum State: Equatable {
        case open
        case refusing(since: MonotonicTime)
        case dropping(latest: MonotonicTime)
        case suspended(nextTry: MonotonicTime)
        case blocked
    }

    /// How long a refused outcome is published again, while its delivery waits.
    let patienceMilliseconds: Int64
    private var state = State.open
    /// Since when the broker has taken no messages; nil if it takes them.
    private var blockedSince: MonotonicTime?
    /// How long the exchange must refuse nothing before outcomes count as taken again: the log tells each change.
    private var quietMilliseconds: Int64 { max(10_000, patienceMilliseconds) }

    init(patienceMilliseconds: Int64) { self.patienceMilliseconds = patienceMilliseconds }

    /// Whether outcomes are dropped now, which is worth a warning.
    var isDropping: Bool {
        switch state {
        case .open, .refusing: false
        case .dropping, .suspended, .blocked: true
        }
    }

    /// Whether the broker takes no messages at all, for lack of memory or disk.
    var isBlocked: Bool { blockedSince != nil }

    /// When deliveries will not wait for outcomes any more; nil if the broker takes messages, or they do not wait.
    var deadline: MonotonicTime? {
        guard let blockedSince, state != .blocked else { return nil }
        return blockedSince.advanced(byMilliseconds: UInt64(quietMilliseconds))
    }

    /// The broker takes no messages, or takes them again.
    mutating func publisherBlocked(_ isBlocked: Bool, at now: MonotonicTime) {
        if !isBlocked {
            blockedSince = nil
            if state == .blocked { state = .open }
        } else if blockedSince == nil {
            blockedSince = now
        }
    }

    /// Gives up on a broker that has taken no messages for too long.
    ///
    /// - Returns: whether that is so from now on: no delivery waits for an outcome any more.
    mutating func giveUp(at now: MonotonicTime) -> Bool {
        guard let deadline, deadline <= now else { return false }
        state = .blocked
        return true
    }

    /// Whether an outcome is to be published at all.
    mutating func mayPublish(at now: MonotonicTime) -> Bool {
        if state == .blocked { return false }
        guard case .suspended(let nextTry) = state else { return true }
        guard nextTry <= now else { return false }
        unroutable(at: now)
        return true
    }

    /// The broker took an outcome.
    mutating func taken(at now: MonotonicTime) {
        if state == .blocked { return }
        if case .dropping(let latest) = state, now.milliseconds(since: latest) < quietMilliseconds { return }
        state = .open
    }

    /// A queue of the exchange refused an outcome (`basic.nack`).
    mutating func refused(at now: MonotonicTime) -> Verdict {
        switch state {
        case .open where patienceMilliseconds > 0:
            state = .refusing(since: now)
            return .publishAgain
        case .refusing(let since) where now.milliseconds(since: since) < patienceMilliseconds: return .publishAgain
        case .open, .refusing, .dropping, .suspended, .blocked:
            state = .dropping(latest: now)
            return .drop
        }
    }

    /// The exchange does not exist.
    mutating func unroutable(at now: MonotonicTime) {
        state = .suspended(nextTry: now.advanced(byMilliseconds: UInt64(max(1_000, patienceMilliseconds))))
    }
}
