/// Which way bytes go through a proxy.
public enum ProxyDirection: String, Hashable, Sendable, CaseIterable {
    /// From whoever connected to the server behind the proxy.
    case toServer
    /// From the server to whoever connected.
    case toClient
}
