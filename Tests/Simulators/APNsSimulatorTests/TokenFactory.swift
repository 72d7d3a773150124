import Crypto
import Essentials

@testable import APNsSimulator

/// Makes provider tokens, good and bad ones.
struct TokenFactory {
    let key: ES256PrivateKey
    var keyID = "ABC123DEFG"
    var teamID = "DEF123GHIJ"

    init() throws { key = try ES256PrivateKey.generate() }

    /// The key as the simulator is told of it.
    var teamKey: SimulatorConfiguration.TeamKey {
        SimulatorConfiguration.TeamKey(teamID: teamID, keyID: keyID, publicKeyPEM: key.publicKeyPEM)
    }

    /// A token of this key.
    func token(issuedAtSeconds: Int64) throws -> String {
        try token(
            header: "{\"alg\":\"ES256\",\"kid\":\"\(keyID)\"}",
            claims: "{\"iss\":\"\(teamID)\",\"iat\":\(issuedAtSeconds)}")
    }

    /// A token of this key that says what the caller wants.
    func token(header: String, claims: String) throws -> String {
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        return signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
    }

    /// The verifier that knows this key.
    func verifier() throws -> ProviderTokenVerifier {
        ProviderTokenVerifier(keys: [keyID: (teamID, try ES256PublicKey(pem: Array(key.publicKeyPEM.utf8)))])
    }
}
