public import Crypto
public import Essentials
internal import Synchronization

/// The tokens of one signing key: one for each origin, signed once and shared by all requests to it.
///
/// Make one source for each key and process, because Apple's service limits how often tokens change. The tokens of at
/// most 256 origins are kept; the one that was used least recently makes room.
///
/// A token is a JSON Web Token with the header `{"typ":"JWT","alg":"ES256"}` and the claims `aud`, `exp` and `sub`
/// (RFC 8292 section 2).
public final class VAPIDTokenSource: Sendable {
    /// How many origins have a token at the same time.
    public static let originsMaximum = 256

    private static let header = Base64URL.encode(Array(#"{"typ":"JWT","alg":"ES256"}"#.utf8))

    private struct Entry {
        let schedule: VAPIDTokenSchedule
        let token: VAPIDToken
        /// The number of the latest use; a lower one is longer ago.
        var latestUse: UInt64
    }

    private struct State {
        var entries: [VAPIDAudience: Entry] = [:]
        var useCount: UInt64 = 0
        var signedCount: UInt64 = 0
    }

    /// The key that signs.
    public let key: VAPIDSigningKey
    /// The claim `sub`.
    public let subject: VAPIDSubject

    private let state = Mutex(State())

    /// Creates the source; it signs nothing yet.
    public init(key: VAPIDSigningKey, subject: VAPIDSubject) {
        self.key = key
        self.subject = subject
    }

    /// The token for a request; signs one if there is none for the origin, or it is due.
    ///
    /// - Parameters:
    ///   - audience: the origin of the endpoint.
    ///   - now: both clocks.
    /// - Returns: the token.
    /// - Throws: `CryptoError` if the key does not sign.
    public func token(for audience: VAPIDAudience, at now: Moment) throws(CryptoError) -> VAPIDToken {
        try use(audience, at: now) { $0.schedule.tokenNeeded(at: now) }
    }

    /// A push service refused a token (401 or 403): a new one is signed if the limit allows it.
    ///
    /// If the token that is returned has the generation that was refused, or is refused as well, the key, the subject
    /// or the clock is wrong, and there is no use in another attempt.
    ///
    /// - Parameters:
    ///   - audience: the origin of the endpoint.
    ///   - generation: the generation of the refused token; one older than the present changes nothing.
    ///   - now: both clocks.
    /// - Returns: the token to use from now on.
    /// - Throws: `CryptoError` if the key does not sign.
    public func tokenRefused(
        for audience: VAPIDAudience, generation: UInt64, at now: Moment
    ) throws(CryptoError) -> VAPIDToken {
        try use(audience, at: now) { entry in
            entry.token.generation == generation
                ? entry.schedule.tokenRefused(at: now) : entry.schedule.tokenNeeded(at: now)
        }
    }

    private func use(
        _ audience: VAPIDAudience, at now: Moment, decision: (Entry) -> VAPIDTokenSchedule.Decision
    ) throws(CryptoError) -> VAPIDToken {
        try state.withLock { (state) throws(CryptoError) in
            state.useCount += 1
            if let entry = state.entries[audience], decision(entry) == .keep {
                state.entries[audience]?.latestUse = state.useCount
                return entry.token
            }
            let schedule = VAPIDTokenSchedule(signedAt: now)
            let token = try sign(
                for: audience, expiresAt: schedule.expiresAt, generation: state.signedCount + 1)
            if state.entries[audience] == nil { Self.makeRoom(in: &state) }
            state.signedCount += 1
            state.entries[audience] = Entry(schedule: schedule, token: token, latestUse: state.useCount)
            return token
        }
    }

    /// This looks through all entries, in less time than the signature takes that follows.
    private static func makeRoom(in state: inout State) {
        guard state.entries.count >= originsMaximum else { return }
        guard let oldest = state.entries.min(by: { $0.value.latestUse < $1.value.latestUse }) else { return }
        state.entries[oldest.key] = nil
    }

    private func sign(
        for audience: VAPIDAudience, expiresAt: WallTime, generation: UInt64
    ) throws(CryptoError) -> VAPIDToken {
        // Neither text has a character that JSON escapes.
        let claims = #"{"aud":"\#(audience.origin)","exp":\#(expiresAt.seconds),"sub":"\#(subject.text)"}"#
        let signingInput = Self.header + "." + Base64URL.encode(Array(claims.utf8))
        let signature = Base64URL.encode(try key.signingKey.sign(Array(signingInput.utf8)))
        return VAPIDToken(
            generation: generation, expiresAt: expiresAt,
            headerValue: Array("vapid t=\(signingInput).\(signature), k=\(key.publicKeyText)".utf8))
    }
}

/// A signed token, ready to be sent.
public struct VAPIDToken: Sendable {
    /// Counts the tokens of one source, from 1; a greater number is a newer token.
    public let generation: UInt64
    /// The claim `exp`: no push service takes the token later.
    public let expiresAt: WallTime
    /// The value of the header `authorization` (RFC 8292 section 3), a secret: `vapid t=TOKEN, k=PUBLIC_KEY`.
    public let headerValue: [UInt8]
}
