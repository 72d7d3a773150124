/// Why a proxy made no tunnel.
struct ProxyFailure: Error, Hashable {
    /// What happened; holds no credentials.
    let reason: String
    /// What an operator can do.
    let hint: String
    /// Whether another address of the proxy may do better.
    let isAboutAddress: Bool
}
