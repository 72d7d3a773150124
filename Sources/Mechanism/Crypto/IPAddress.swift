import Glibc

/// Tells addresses from names.
public enum IPAddress {
    /// Whether the text is an IPv4 or IPv6 address in its usual form.
    public static func isNumeric(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
    }
}
