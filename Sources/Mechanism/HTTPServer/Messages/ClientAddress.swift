import Crypto
import Glibc

/// The address of a client, and the group of addresses that its limits apply to.
struct ClientAddress: Hashable {
    private static let mappedPrefix = "::ffff:"

    /// The address in numbers, an IPv4 address as such even if the socket is one of IPv6; empty if it is not known.
    let text: String
    /// The key under which the connections of the address are counted.
    ///
    /// A network of IPv6 has at least 2^64 addresses, all of one owner: its first half counts.
    let share: String

    /// The peer of a connected socket.
    init(peerOf socket: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let text = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> String in
                guard getpeername(socket, address, &length) == 0 else { return "" }
                var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
                guard getnameinfo(address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else {
                    return ""
                }
                return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
        }
        self.init(text)
    }

    /// An address in numbers, in any of its forms; the zone of a local one does not count.
    init(_ text: String) {
        var address = in6_addr()
        let plain = String(text.prefix { $0 != "%" })
        guard inet_pton(AF_INET6, plain, &address) == 1 else {
            (self.text, share) = (plain, plain)
            return
        }
        var bytes = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(AF_INET6, &address, &bytes, socklen_t(bytes.count))
        let canonical = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard !canonical.hasPrefix(Self.mappedPrefix) else {
            let mapped = String(canonical.dropFirst(Self.mappedPrefix.count))
            (self.text, share) = (mapped, mapped)
            return
        }
        self.text = canonical
        share = withUnsafeBytes(of: address) { $0.prefix(8).map { String($0, radix: 16) }.joined(separator: ".") }
    }
}

/// The number of connections of each address.
struct ConnectionShares {
    /// The decision about a new connection.
    enum Verdict: Equatable {
        case taken
        /// It is one too many for its address: one of the same address gives way, or it is refused.
        case addressFull
        /// No connection slot is free: another connection gives way, or the new one waits.
        case full
    }

    let connectionsMaximum: Int
    /// Nil for no limit of each address.
    let perAddressMaximum: Int?
    /// The addresses that the limit is not for, because proxies are there.
    let unlimitedAddresses: Set<String>
    private(set) var count = 0
    private var countByShare: [String: Int] = [:]

    init(connectionsMaximum: Int, perAddressMaximum: Int?, unlimitedAddresses: Set<String>) {
        self.connectionsMaximum = connectionsMaximum
        self.perAddressMaximum = perAddressMaximum
        self.unlimitedAddresses = unlimitedAddresses
    }

    /// Whether one more connection of an address may be taken.
    func verdict(_ address: ClientAddress) -> Verdict {
        if let perAddressMaximum, !unlimitedAddresses.contains(address.text),
            countByShare[address.share, default: 0] >= perAddressMaximum
        {
            return .addressFull
        }
        return count < connectionsMaximum ? .taken : .full
    }

    mutating func add(_ address: ClientAddress) {
        count += 1
        countByShare[address.share, default: 0] += 1
    }

    mutating func remove(_ address: ClientAddress) {
        guard let old = countByShare[address.share] else { return }
        count -= 1
        countByShare[address.share] = old > 1 ? old - 1 : nil
    }
}

/// The proxies whose word about their clients counts.
public struct TrustedProxies: Sendable {
    private let addresses: Set<String>

    /// Creates a list.
    ///
    /// - Parameter addresses: addresses in numbers, in any of their forms.
    public init(_ addresses: [String]) { self.addresses = Set(addresses.map { ClientAddress($0).text }) }

    /// Whether a request came from one of them.
    ///
    /// Only for a server that was not told of the proxies itself: such a server gives the client's address.
    public func sent(_ request: HTTPRequest) -> Bool { addresses.contains(request.clientAddress) }

    /// The address of a request's client, which a proxy of the list forwards, and the key for limits by address.
    public func client(of request: HTTPRequest) -> (address: String, share: String) {
        let forwarded = sent(request) ? request.fields.forwardedAddress : nil
        let address = ClientAddress(forwarded ?? request.clientAddress)
        return (address.text, address.share)
    }
}

extension [HTTPField] {
    /// The address that a proxy forwards: the last one of `X-Forwarded-For`, because the proxy itself added it.
    ///
    /// The others are the client's own words. Nil if there is none, or it is no address in numbers.
    public var forwardedAddress: String? {
        guard let last = last(where: { $0.name == "x-forwarded-for" })?.value.split(separator: ",").last else {
            return nil
        }
        let text = String(last.filter { $0 != " " && $0 != "\t" })
        return IPAddress.isNumeric(text) ? ClientAddress(text).text : nil
    }
}
