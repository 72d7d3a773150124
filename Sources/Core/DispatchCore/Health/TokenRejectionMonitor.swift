public import Essentials
import Notifications

/// Tells a dead token from a wrong configuration when a push service calls a token bad.
///
/// A token is dead when it was called bad twice, and the same service accepted a push to *another* token that went out
/// between the two. Until then its push waits. So a wrong environment or topic removes nothing and ends no push,
/// however few tokens an app has, however many workers, and however soon it is corrected.
///
/// | went out | answered | answer | consequence |
/// |---|---|---|---|
/// | 0 s | 1 s | token A is called bad | its push waits for a second |
/// | 2 s | 3 s | a push to token B is accepted | |
/// | 2 s or later | later | token A is called bad | it is removed, unless most recent answers call tokens bad |
///
/// While most recent answers call tokens bad, the configuration is *in doubt*. The answers are counted by different
/// tokens: the same few tokens, asked again and again among good ones, put no app in doubt.
public struct TokenRejectionMonitor: Sendable {
    /// The decision about a push whose token was called bad.
    public enum Verdict: Hashable, Sendable {
        /// The token is dead.
        case dead
        /// Whether the token is dead is not known; the push waits for so long at least.
        case deferPush(seconds: Int)
    }

    private struct Suspect: Sendable {
        /// When it was called bad first.
        let since: MonotonicTime
        /// When the first push to another token went out that was accepted and is later than that.
        var othersAccepted: MonotonicTime?
        var rejections = 1
    }

    /// How many answers count as recent.
    public static let recentMaximum = 128
    /// How many answers are needed for doubt.
    public static let evidenceMinimum = 10
    /// The most tokens that are suspected; the push of a further one waits until there is room again.
    static let suspectsMaximum = 1_024
    /// How long a token is suspected at least, in milliseconds, before it makes room for another one.
    public static let suspicionMilliseconds: Int64 = 300_000
    /// How long a push waits after each time that its token is called bad, in seconds; the last one repeats.
    static let waitsSeconds = [1, 5, 30]
    /// How many tokens that were called bad are remembered, so that each is counted once.
    private static let countedMaximum = 64

    private var answers: UInt128 = 0
    private var count = 0
    /// How many answers in a row have called a token bad, the same token included.
    private var badInARow = 0
    /// The digests of counted bad tokens, each at a place by its digest; made at the first.
    private var counted: [UInt64] = []
    /// The suspected tokens by their digests.
    private var suspects: [UInt64: Suspect] = [:]
    /// Until when no suspect makes room for another one.
    private var fullUntil = MonotonicTime(nanoseconds: 0)
    /// The suspects without an accepted push to another token, in the order of `since`; some may be suspects no more.
    private var open: [(digest: UInt64, since: MonotonicTime)] = []

    /// Creates a monitor that has seen nothing.
    public init() {}

    /// Whether the configuration is in doubt at this moment.
    public var isInDoubt: Bool {
        count >= Self.evidenceMinimum && 2 * answers.nonzeroBitCount > count || badInARow >= Self.evidenceMinimum
    }

    /// Notes an answer that did not call its token bad.
    ///
    /// - Parameters:
    ///   - digest: a digest of the token, not 0.
    ///   - isAccepted: whether the push was accepted; only then it speaks for the configuration.
    ///   - sent: when the push went out.
    public mutating func tokenWasGood(digest: @autoclosure () -> UInt64, isAccepted: Bool, sent: MonotonicTime) {
        note(0)
        badInARow = 0
        if suspects.isEmpty { return }
        suspects[digest()] = nil
        if isAccepted { othersAccepted(sent) }
    }

    /// A push to a token was accepted, which speaks for all suspects that were called bad before it went out.
    private mutating func othersAccepted(_ sent: MonotonicTime) {
        let known = open.prefix { $0.since < sent }
        for suspect in known where suspects[suspect.digest]?.since == suspect.since {
            suspects[suspect.digest]?.othersAccepted = sent
        }
        open.removeFirst(known.count)
    }

    /// Notes an answer that called a token bad.
    ///
    /// - Parameters:
    ///   - digest: a digest of the token, not 0.
    ///   - sent: when the push went out.
    ///   - now: the time.
    /// - Returns: the decision about the push.
    public mutating func tokenWasBad(digest: UInt64, sent: MonotonicTime, at now: MonotonicTime) -> Verdict {
        badInARow += 1
        if counted.isEmpty { counted = Array(repeating: 0, count: Self.countedMaximum) }
        let index = Int(digest % UInt64(Self.countedMaximum))
        if counted[index] != digest {
            counted[index] = digest
            note(1)
        }
        guard var suspect = suspects[digest] else {
            let isSuspected = self.suspect(digest, now)
            return .deferPush(seconds: isSuspected ? Self.waitsSeconds[0] : Self.waitsSeconds[2])
        }
        if !isInDoubt, let accepted = suspect.othersAccepted, accepted <= sent {
            suspects[digest] = nil
            return .dead
        }
        suspect.rejections = min(suspect.rejections + 1, Self.waitsSeconds.count)
        suspects[digest] = suspect
        return .deferPush(seconds: Self.waitsSeconds[suspect.rejections - 1])
    }

    /// Remembers a token that was called bad, if there is room.
    private mutating func suspect(_ digest: UInt64, _ now: MonotonicTime) -> Bool {
        if suspects.count >= Self.suspectsMaximum, !makeRoom(now) { return false }
        suspects[digest] = Suspect(since: now)
        open.append((digest, now))
        if open.count > 2 * Self.suspectsMaximum { open.removeAll { suspects[$0.digest]?.since != $0.since } }
        return true
    }

    /// Forgets the oldest suspect, unless it may still be convicted soon.
    private mutating func makeRoom(_ now: MonotonicTime) -> Bool {
        guard now >= fullUntil,
            let oldest = suspects.min(by: { ($0.value.since, $0.key) < ($1.value.since, $1.key) })
        else { return false }
        fullUntil = oldest.value.since.advanced(byMilliseconds: UInt64(Self.suspicionMilliseconds))
        guard now >= fullUntil else { return false }
        suspects[oldest.key] = nil
        return true
    }

    private mutating func note(_ bit: UInt128) {
        answers = answers << 1 | bit
        count = min(count + 1, Self.recentMaximum)
    }
}

/// The monitors of one app, one for each scope and kind of token.
///
/// Each kind has a topic of its own, and each environment and origin has tokens of its own. So a wrong one delays no
/// push of another.
struct TokenRejectionMonitors: Sendable {
    /// The tokens that one piece of evidence speaks for.
    struct Scope: Hashable, Sendable {
        /// The route of the transport.
        let route: Int
        /// The kind of token.
        let kind: TokenKind
        /// The digest of a browser's origin; 0 for services with one origin.
        let origin: UInt64

        /// Creates a scope.
        init(route: Int, kind: TokenKind, origin: UInt64 = 0) {
            self.route = route
            self.kind = kind
            self.origin = origin
        }
    }

    /// The most scopes that are remembered; the one that was not used for longest makes room.
    static let scopesMaximum = 64

    private var scopes: [Scope] = []
    private var monitors: [TokenRejectionMonitor] = []
    /// When each was changed to last, by a count of the changes.
    private var uses: [Int] = []
    private var latest = 0
    private var changesCount = 0

    /// Whether the configuration of any scope is in doubt at this moment.
    var isAnyInDoubt: Bool { monitors.contains { $0.isInDoubt } }

    /// Changes the monitor of a scope.
    mutating func modify<Result>(
        _ scope: Scope, _ change: (inout TokenRejectionMonitor) -> Result
    ) -> Result {
        change(&monitors[index(of: scope)])
    }

    private mutating func index(of scope: Scope) -> Int {
        if latest < scopes.count, scopes[latest] == scope { return latest }
        changesCount += 1
        if let index = scopes.firstIndex(of: scope) {
            latest = index
        } else if scopes.count == Self.scopesMaximum {
            latest = uses.indices.min { uses[$0] < uses[$1] } ?? 0
            scopes[latest] = scope
            monitors[latest] = TokenRejectionMonitor()
        } else {
            latest = scopes.count
            scopes.append(scope)
            monitors.append(TokenRejectionMonitor())
            uses.append(0)
        }
        uses[latest] = changesCount
        return latest
    }
}
