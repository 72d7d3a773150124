public import ConnectionPool
public import Crypto
import Essentials
internal import EventLoop
internal import Glibc
internal import Metrics
public import ServiceClient
internal import Synchronization

/// The provider token of one signing key: minted once, shared by every connection and loop that uses the key.
///
/// Make one for each key and process; `ProviderKeyWatcher` replaces the key when its file changes. Tokens made per
/// connection or per worker are what APNs answers with `TooManyProviderTokenUpdates`.
///
/// The token is a JSON Web Token with the header `{"alg":"ES256","kid":…}` and the claims `{"iss":…,"iat":…}`
/// (Apple, "Establishing a token-based connection to APNs").
public final class ProviderTokenSource: Sendable {
    /// Reads both clocks.
    public typealias Clock = @Sendable () -> ProviderTokenSchedule.Moment

    private struct State {
        var key: ES256PrivateKey
        var keyID: String
        var keyGeneration: UInt64 = 1
        var schedule = ProviderTokenSchedule()
        var token: Authorization?
        var counterOfKey: (@Sendable (String) -> Counter)?
        var minted: Counter?
    }

    /// The identifier of the team, ten characters.
    public let teamID: String

    private let clock: Clock
    private let state: Mutex<State>

    /// The identifier of the key, ten characters.
    public var keyID: String { state.withLock { $0.keyID } }

    /// Creates the source; it signs nothing yet.
    ///
    /// - Parameters:
    ///   - key: the signing key.
    ///   - keyID: the key's identifier, from Apple's list of keys: capital letters and digits.
    ///   - teamID: the identifier of the developer team: capital letters and digits.
    ///   - clock: both clocks; the default reads the system's.
    /// - Throws: `ServiceError` with `identifierInvalid` if an identifier is not ten capital letters and digits.
    public init(
        key: ES256PrivateKey, keyID: String, teamID: String, clock: @escaping Clock = ProviderTokenSource.systemClock
    ) throws(ServiceError) {
        try Self.requireIdentifier(keyID, name: "key_id")
        try Self.requireIdentifier(teamID, name: "team_id")
        state = Mutex(State(key: key, keyID: keyID))
        self.teamID = teamID
        self.clock = clock
    }

    private struct Identity: Hashable {
        let keyID: String
        let teamID: String
        let publicKeyPEM: String
    }

    private struct Reference: Sendable {
        weak var source: ProviderTokenSource?
    }

    private static let sharedSources = Mutex<[Identity: Reference]>([:])

    /// The one source of a key in this process, for users that do not know of each other: made at the first call, and
    /// the same for as long as one of them keeps it.
    ///
    /// - Parameters:
    ///   - key: the signing key.
    ///   - keyID: the key's identifier.
    ///   - teamID: the identifier of the developer team.
    /// - Returns: the source.
    /// - Throws: `ServiceError` with `identifierInvalid`, as `init`.
    public static func shared(
        key: ES256PrivateKey, keyID: String, teamID: String
    ) throws(ServiceError) -> ProviderTokenSource {
        let identity = Identity(keyID: keyID, teamID: teamID, publicKeyPEM: key.publicKeyPEM)
        let new = try ProviderTokenSource(key: key, keyID: keyID, teamID: teamID)
        return sharedSources.withLock { sources in
            sources = sources.filter { $0.value.source != nil }
            // One whose key was replaced since is another key's by now.
            if let source = sources[identity]?.source, source.hasKey(keyID, key) { return source }
            sources[identity] = Reference(source: new)
            return new
        }
    }

    private func hasKey(_ keyID: String, _ key: ES256PrivateKey) -> Bool {
        state.withLock { $0.keyID == keyID && $0.key.publicKeyPEM == key.publicKeyPEM }
    }

    private static func requireIdentifier(_ value: String, name: String) throws(ServiceError) {
        guard !isIdentifier(value) else { return }
        throw ServiceError(
            .identifierInvalid,
            "\(name) must be the identifier that Apple gave out (ten capital letters and digits, like "
                + "ABC123DEFG), but it is \(value.isEmpty ? "empty" : "\"\(value.prefix(32))\"")")
    }

    /// The system's two clocks; the monotonic one goes on while the machine is suspended.
    public static let systemClock: Clock = {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .init(
            wallSeconds: WallClock.nowMilliseconds() / 1_000,
            monotonicNanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    /// Counts the tokens from now on; a source that several routes share has one counter for each key.
    func count(in counterOfKey: @escaping @Sendable (String) -> Counter) {
        state.withLock { state in
            state.counterOfKey = counterOfKey
            state.minted = counterOfKey(state.keyID)
        }
    }

    /// Replaces the signing key; the next use of the token mints one with it, however young the old token is.
    ///
    /// Connections that have carried a token of the old key are replaced, as they are used next.
    ///
    /// - Parameters:
    ///   - key: the key; the key in use changes nothing.
    ///   - keyID: its identifier; nil for the same as before.
    /// - Returns: whether anything changed.
    /// - Throws: `ServiceError` with `identifierInvalid` as for `init`; then the old key stays in use.
    @discardableResult
    public func replaceKey(_ key: ES256PrivateKey, keyID: String? = nil) throws(ServiceError) -> Bool {
        if let keyID { try Self.requireIdentifier(keyID, name: "key_id") }
        return state.withLock { state in
            let keyID = keyID ?? state.keyID
            guard key.publicKeyPEM != state.key.publicKeyPEM || keyID != state.keyID else { return false }
            if keyID != state.keyID { state.minted = state.counterOfKey?(keyID) }
            state.key = key
            state.keyID = keyID
            state.keyGeneration += 1
            state.schedule = ProviderTokenSchedule()
            return true
        }
    }

    /// The token to use now; signs one if there is none or it is due.
    ///
    /// - Returns: the token.
    /// - Throws: `CryptoError` if the key does not sign.
    public func token() throws(CryptoError) -> Authorization {
        let now = clock()
        return try state.withLock { (state) throws(CryptoError) in
            let decision = state.schedule.tokenNeeded(at: now)
            return try carryOut(decision, at: now, on: &state)
        }
    }

    /// APNs answered `ExpiredProviderToken` to a token; a new one is minted if the limits allow it.
    ///
    /// - Parameter generation: the generation of the rejected token; one older than the present changes nothing.
    /// - Returns: the token to use from now on.
    /// - Throws: `CryptoError` if the key does not sign.
    public func tokenExpired(generation: UInt64) throws(CryptoError) -> Authorization {
        let now = clock()
        return try state.withLock { (state) throws(CryptoError) in
            let isPresent = state.token?.generation == generation
            let decision =
                isPresent ? state.schedule.tokenExpired(at: now) : state.schedule.tokenNeeded(at: now)
            return try carryOut(decision, at: now, on: &state)
        }
    }

    private func carryOut(
        _ decision: ProviderTokenSchedule.Decision, at now: ProviderTokenSchedule.Moment, on state: inout State
    ) throws(CryptoError) -> Authorization {
        switch (decision, state.token) {
        case (.keep, let token?):
            return token
        case (.keep, nil):
            return try mint(issuedAtSeconds: now.wallSeconds, at: now, on: &state)
        case (.mint(let issuedAt), _):
            return try mint(issuedAtSeconds: issuedAt, at: now, on: &state)
        }
    }

    private func mint(
        issuedAtSeconds: Int64, at now: ProviderTokenSchedule.Moment, on state: inout State
    ) throws(CryptoError) -> Authorization {
        let header = Base64URL.encode(Array("{\"alg\":\"ES256\",\"kid\":\"\(state.keyID)\"}".utf8))
        let claims = Base64URL.encode(Array("{\"iss\":\"\(teamID)\",\"iat\":\(issuedAtSeconds)}".utf8))
        let signingInput = header + "." + claims
        let signature = try state.key.sign(Array(signingInput.utf8))
        let token = Authorization(
            generation: (state.token?.generation ?? 0) + 1, keyGeneration: state.keyGeneration,
            headerValue: Array("bearer \(signingInput).\(Base64URL.encode(signature))".utf8))
        state.schedule.minted(at: now)
        state.token = token
        state.minted?.add()
        return token
    }

    /// Apple, "Establishing a token-based connection to APNs": both identifiers have ten characters.
    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
    }
}

extension ProviderTokenSource: Authorizer {
    /// The provider token to use now, as an authorization.
    public func authorization() -> AuthorizationState {
        state { () throws(CryptoError) in try token() }
    }

    /// APNs called a token expired; a new one is minted if the limits allow it.
    public func authorizationExpired(generation: UInt64) -> AuthorizationState {
        state { () throws(CryptoError) in try tokenExpired(generation: generation) }
    }

    private func state(_ token: () throws(CryptoError) -> Authorization) -> AuthorizationState {
        do throws(CryptoError) {
            return .ready(try token())
        } catch {
            return .unavailable(reason: "no provider token, check key_file: \(error.message)")
        }
    }
}
