import Crypto
public import PushServiceSimulator

/// Keys in the form of files, for setting a simulator up.
public enum SimulatorKey {
    /// Makes a key that a sender can sign its provider tokens with, in the form of Apple's `.p8` files.
    ///
    /// - Returns: the private key in PEM, which the simulator accepts for pushes.
    /// - Throws: `SimulatorError` with the code `keyInvalid` if the system has no randomness.
    public static func makePrivateKeyPEM() throws(SimulatorError) -> String {
        do throws(CryptoError) {
            return try ES256PrivateKey.generate().pem
        } catch {
            throw SimulatorError(.keyInvalid, "no key could be made: \(error)")
        }
    }

    /// Takes the public half out of a key.
    ///
    /// - Parameter pem: the content of a `.p8` file, or of one that holds the public half only.
    /// - Returns: the public half in PEM.
    /// - Throws: `SimulatorError` with the code `keyInvalid` if it is neither.
    public static func publicKeyPEM(in pem: [UInt8]) throws(SimulatorError) -> String {
        let text = String(decoding: pem, as: UTF8.self)
        do throws(CryptoError) {
            if text.contains("PRIVATE KEY-----") { return try ES256PrivateKey(pem: pem).publicKeyPEM }
            _ = try ES256PublicKey(pem: pem)
            return text
        } catch {
            throw SimulatorError(.keyInvalid, error.message)
        }
    }
}
