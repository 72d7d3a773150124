import Crypto

extension SimulatorConfiguration {
    /// Refuses what could not work.
    func validate() throws(SimulatorError) {
        guard host == "127.0.0.1" || host == "::1" || host == "localhost" else {
            throw SimulatorError(
                .configurationInvalid,
                "cannot listen on '\(host)': the simulator serves this machine only; use 127.0.0.1 or ::1")
        }
        guard (1...64).contains(loopCount) else {
            throw SimulatorError(.configurationInvalid, "the number of loops has to be 1 to 64, not \(loopCount)")
        }
        guard (1...1_000_000).contains(maxConcurrentStreams), maxUnauthenticatedStreams >= 1 else {
            throw SimulatorError(.configurationInvalid, "the number of streams has to be 1 to 1000000")
        }
        guard isTrusting || !teamKeys.isEmpty else {
            throw SimulatorError(
                .configurationInvalid, "no key is known by which provider tokens could be verified; name one")
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
