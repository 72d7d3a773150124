/// Authenticates the requests of some routes; routes with the same credentials share one.
///
/// All methods may be called from any thread. A pool asks at most once a second.
public protocol Authorizer: AnyObject, Sendable {
    /// The authorization to use now, or why there is none.
    func authorization() -> AuthorizationState

    /// The push service said that an authorization has expired.
    ///
    /// - Parameter generation: the generation of the refused authorization; one older than the present changes nothing.
    /// - Returns: the authorization from now on. If it has the same generation, no other can be had, and the answer
    ///   counts.
    func authorizationExpired(generation: UInt64) -> AuthorizationState

    /// Calls back whenever the state may have changed by itself, on any thread.
    func observe(_ changed: @escaping @Sendable () -> Void)
}

extension Authorizer {
    /// Does nothing: for an authorizer that always answers at once.
    public func observe(_ changed: @escaping @Sendable () -> Void) {}
}

/// Whether requests can be authenticated.
public enum AuthorizationState: Sendable {
    /// They can.
    case ready(Authorization)
    /// It is not known yet: the pushes wait, and `observe` calls back.
    case pending
    /// They cannot for now, for this reason, and it is tried again: the route leads nowhere.
    case unavailable(reason: String)
    /// They cannot, because the credentials are not accepted, for this reason: an operator has to act.
    case refused(reason: String)
}

/// The credentials of a request, ready to be sent.
public struct Authorization: Sendable {
    /// Counts the authorizations of one authorizer, from 1; a greater number is a newer one.
    public let generation: UInt64
    /// Counts the keys of one authorizer, from 1: APNs wants tokens of different keys on different connections.
    public let keyGeneration: UInt64
    /// The value of the header `authorization`, a secret.
    public let headerValue: [UInt8]

    /// Creates an authorization.
    public init(generation: UInt64, keyGeneration: UInt64, headerValue: [UInt8]) {
        self.generation = generation
        self.keyGeneration = keyGeneration
        self.headerValue = headerValue
    }
}
