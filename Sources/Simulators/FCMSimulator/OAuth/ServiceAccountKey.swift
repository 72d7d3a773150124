import Crypto
public import PushServiceSimulator

/// A service account with a new key, for setting a simulator and its senders up.
public struct ServiceAccountKey: Sendable {
    /// The account as the simulator is told of it.
    public let account: FCMSimulatorConfiguration.ServiceAccount

    private let projectID: String
    private let keyID: String
    private let privateKeyPEM: String

    /// Makes an account of a project.
    ///
    /// - Parameter projectID: the project's identifier.
    /// - Throws: `SimulatorError` (`keyInvalid`) if the system has no randomness.
    public init(projectID: String) throws(SimulatorError) {
        do throws(CryptoError) {
            let key = try RS256PrivateKey.generate()
            keyID = String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
            account = FCMSimulatorConfiguration.ServiceAccount(
                email: "push@\(projectID).iam.gserviceaccount.com", publicKeysPEM: [keyID: key.publicKeyPEM])
            privateKeyPEM = key.pem
            self.projectID = projectID
        } catch {
            throw SimulatorError(.keyInvalid, "no key could be made: \(error.message)")
        }
    }

    /// The file by which a sender knows the account, as Google hands it out (AIP-4112); a secret.
    ///
    /// - Parameter tokenURI: where the sender gets access tokens, for example `https://127.0.0.1:8443/token`.
    /// - Returns: the text in JSON.
    public func credentialsJSON(tokenURI: String) -> String {
        let node = GoogleJSON([
            "type": "service_account", "project_id": projectID, "private_key_id": keyID, "private_key": privateKeyPEM,
            "client_email": account.email, "client_id": "100000000000000000000",
            "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": tokenURI,
            "universe_domain": "googleapis.com",
        ])
        return String(decoding: node.body, as: UTF8.self)
    }
}
