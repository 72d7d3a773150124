import Crypto
public import PushServiceSimulator

/// The properties of the simulator: those of FCM, and, as if they were its own, those of `ServingConfiguration`.
public struct FCMSimulatorConfiguration: SimulatorProperties {
    /// A service account that may ask for access tokens.
    public struct ServiceAccount: Sendable, Hashable {
        /// Its address, `client_email`: the claim `iss` of its assertions.
        public var email: String
        /// The public halves of its keys in PEM, by `private_key_id`: the claim `kid`.
        public var publicKeysPEM: [String: String]
        /// Whether it may send messages for the project.
        public var maySend = true

        /// Names an account.
        public init(email: String, publicKeysPEM: [String: String]) {
            self.email = email
            self.publicKeysPEM = publicKeysPEM
        }
    }

    /// The properties that all simulators have; FCM allows 100 streams on a connection.
    public var serving = ServingConfiguration(maxConcurrentStreams: 100)
    /// The project's identifier.
    public var projectID = "apus-simulator"
    /// The project's number, by which it can be named as well.
    public var projectNumber = "123456789012"
    /// The accounts that get access tokens.
    public var accounts: [ServiceAccount] = []
    /// The answers for particular devices.
    public var script = TargetScript.empty
    /// How much is taken.
    public var quotas = FCMQuotas()
    /// The header `retry-after` when the project's quota is used up, in seconds; nil for none.
    public var quotaRetryAfterSeconds: Int?
    /// How long an access token lives, in seconds.
    public var accessTokenSeconds = 3_599
    /// A second port, which speaks HTTP/1.1; 0 means any free one, nil none.
    public var http1Port: UInt16?

    /// Creates a configuration of defaults, which knows no account yet.
    public init() {}

    /// Refuses what could not work.
    func validate() throws(SimulatorError) {
        guard (1...43_200).contains(accessTokenSeconds) else {
            throw .configurationInvalid("an access token lives 1 to 43200 seconds, not \(accessTokenSeconds)")
        }
        guard serving.isTrusting || !accounts.isEmpty else {
            throw .configurationInvalid("no service account is known that could get an access token; name one")
        }
        guard !projectID.isEmpty, !projectID.contains("/"), !projectNumber.isEmpty else {
            throw .configurationInvalid("the project '\(projectID)' cannot stand in a path")
        }
    }

    /// Reads the keys.
    func endpointAccounts() throws(SimulatorError) -> [String: TokenEndpoint.Account] {
        var table: [String: TokenEndpoint.Account] = [:]
        for account in accounts {
            var keys: [String: RS256PublicKey] = [:]
            for (keyID, pem) in account.publicKeysPEM {
                do throws(CryptoError) {
                    keys[keyID] = try RS256PublicKey(pem: Array(pem.utf8))
                } catch {
                    throw SimulatorError(.keyInvalid, "the public key \(keyID) cannot be used: \(error.message)")
                }
            }
            table[account.email] = TokenEndpoint.Account(email: account.email, keys: keys, maySend: account.maySend)
        }
        return table
    }
}
