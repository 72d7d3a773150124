internal import Crypto

extension APNsRoute {
    /// The TLS context of the route's connections.
    func makeContext() throws(APNsError) -> TLSContext {
        do throws(CryptoError) {
            return try TLSContext.client(extraTrustAnchorsFile: extraTrustAnchorsFile, applicationProtocols: ["h2"])
        } catch {
            throw APNsError(.routeInvalid, "app \(app), \(environment.rawValue): \(error.message)")
        }
    }
}
