import Glibc

extension AMQPEndpoint {
    /// Whether the host is an IPv4 or IPv6 address rather than a name.
    var isAddress: Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    }
}
