import Crypto
public import PushServiceSimulator

/// The properties of the simulator: those of APNs, and, as if they were its own, those of `ServingConfiguration`.
public struct SimulatorConfiguration: SimulatorProperties {
    /// How long answers take.
    public typealias Latency = ServingConfiguration.Latency

    /// A key with which a team may sign its provider tokens.
    public struct TeamKey: Sendable, Hashable {
        /// The claim `iss` of its tokens.
        public var teamID: String
        /// The claim `kid` of its tokens.
        public var keyID: String
        /// The public half, in PEM.
        public var publicKeyPEM: String

        /// Names a key.
        public init(teamID: String, keyID: String, publicKeyPEM: String) {
            self.teamID = teamID
            self.keyID = keyID
            self.publicKeyPEM = publicKeyPEM
        }
    }

    /// The properties that all simulators have.
    public var serving = ServingConfiguration(maxConcurrentStreams: 1_000)
    /// The keys that are accepted.
    public var teamKeys: [TeamKey] = []
    /// The bundle identifiers that the keys may push to; none means any.
    public var bundleIDs: [String] = []
    /// The answers for particular device tokens.
    public var script = AnswerScript.empty
    /// How many requests may be open at once before a valid provider token has come; Apple documents one.
    public var maxUnauthenticatedStreams: UInt32 = 1

    /// Creates a configuration of defaults, which accepts no key yet.
    public init() {}

    /// Refuses what could not work.
    func validate() throws(SimulatorError) {
        guard maxUnauthenticatedStreams >= 1 else {
            throw .configurationInvalid("the number of streams has to be 1 to 1000000")
        }
        guard serving.isTrusting || !teamKeys.isEmpty else {
            throw .configurationInvalid("no key is known by which provider tokens could be verified; name one")
        }
    }

    /// Reads the keys.
    func publicKeys() throws(SimulatorError) -> [String: (teamID: String, key: ES256PublicKey)] {
        var keys: [String: (teamID: String, key: ES256PublicKey)] = [:]
        for teamKey in teamKeys {
            do {
                keys[teamKey.keyID] = (teamKey.teamID, try ES256PublicKey(pem: Array(teamKey.publicKeyPEM.utf8)))
            } catch {
                throw SimulatorError(.keyInvalid, "the public key \(teamKey.keyID) cannot be used: \(error)")
            }
        }
        return keys
    }
}
