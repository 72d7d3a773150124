import Notifications

/// The rules for addresses of devices, by platform.
///
/// Whether a public key lies on its curve is known to adapters, which have the cryptography.
public enum AddressRules {
    /// Says what an address lacks, or has too much, for its platform.
    ///
    /// - Parameters:
    ///   - token: the address.
    ///   - platform: the platform that it is said to be of.
    /// - Returns: the problem, as the end of a sentence, without the address; nil if there is none.
    static func problem(of token: DeviceToken, platform: Platform) -> String? {
        let details = token.details
        switch platform.addressForm {
        case .bytes:
            guard token.bytes.count <= DeviceToken.bytesMaximum else {
                return "it has \(token.bytes.count) bytes, and may have \(DeviceToken.bytesMaximum)"
            }
            return details == nil ? nil : "it has keys or an end, which only addresses of other platforms have"
        case .text:
            guard DeviceToken(text: token.bytes) != nil else {
                return "it must be printable characters of ASCII without blanks"
            }
            guard details?.webPushKeys == nil, details?.expiresAtMilliseconds == nil else {
                return "it has keys or an end, which only addresses of WEB_PUSH have"
            }
            return platform != .gcm && details?.isInstallationID == true
                ? "it is an installation ID, which only GCM has" : nil
        case .subscription:
            if let problem = problem(ofEndpoint: token.bytes) { return "the endpoint is refused: \(problem)" }
            guard details?.webPushKeys != nil else { return "it has no keys, with which messages are encrypted" }
            return details?.isInstallationID == true ? "it is an installation ID, which only GCM has" : nil
        }
    }

    /// Says why a text is no endpoint of a Web Push subscription.
    ///
    /// An endpoint is an absolute URI of `https` (RFC 8030 §3, RFC 9110 §4.2.2). User information and fragments are
    /// refused, because they are no part of a request.
    ///
    /// - Parameter endpoint: the text.
    /// - Returns: the problem, as the end of a sentence, without the endpoint; nil if there is none.
    public static func problem(ofEndpoint endpoint: [UInt8]) -> String? {
        guard endpoint.count <= DeviceToken.textBytesMaximum else {
            return "it has \(endpoint.count) bytes, and may have \(DeviceToken.textBytesMaximum)"
        }
        guard endpoint.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            return "it must be printable characters of ASCII without blanks"
        }
        let scheme = Array("https://".utf8)
        guard endpoint.starts(with: scheme) else { return "it must begin with https://" }
        guard !endpoint.contains(UInt8(ascii: "#")) else { return "it must have no fragment (#)" }
        let authority = endpoint.dropFirst(scheme.count).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard !authority.contains(UInt8(ascii: "@")) else { return "it must have no user name or password (@)" }
        return problem(ofAuthority: authority)
    }

    /// Says why bytes are no host with perhaps a port: a name, an IPv4 address, or an IPv6 address in brackets.
    private static func problem(ofAuthority authority: ArraySlice<UInt8>) -> String? {
        let end: ArraySlice<UInt8>.Index
        if authority.first == UInt8(ascii: "[") {
            guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")) else { return "its host has no end (])" }
            end = bracket + 1
        } else {
            end = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        }
        let (host, port) = (authority[..<end], authority[end...])
        let isAddress = host.first == UInt8(ascii: "[")
        let isHost = (isAddress ? host.dropFirst().dropLast() : host).allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."):
                true
            case UInt8(ascii: "-"), UInt8(ascii: "_"): !isAddress
            case UInt8(ascii: ":"): isAddress
            default: false
            }
        }
        guard isHost, host.count > (isAddress ? 2 : 0) else { return "it must have the name of a host after https://" }
        guard !port.isEmpty else { return nil }
        let digits = port.dropFirst()
        let number = Int(String(decoding: digits, as: UTF8.self)) ?? 0
        let isPort =
            port.first == UInt8(ascii: ":") && (1...65_535).contains(number) && digits.first != UInt8(ascii: "0")
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isPort ? nil : "what follows its host must be a port (:443), a path (/) or nothing"
    }
}
