public import Notifications

/// Addresses of every platform, for tests.
public enum SampleAddress {
    /// The public keys of two browsers: that of RFC 8291 §5, and another point of P-256.
    public static let publicKeys = [
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
    ]

    /// Makes an address.
    ///
    /// - Parameters:
    ///   - platform: its platform.
    ///   - name: tells it from others, in printable ASCII.
    ///   - count: how many bytes it is filled up to, if it is shorter.
    ///   - isInstallationID: whether FCM takes it as an installation ID.
    ///   - generation: tells keys of a subscription from others.
    ///   - expiresAtMilliseconds: when a subscription ends.
    /// - Returns: the address.
    /// - Throws: `RegistryViolation` if there is no such address.
    public static func make(
        _ platform: Platform, _ name: String, bytes count: Int = 0, isInstallationID: Bool = false,
        generation: UInt8 = 1, expiresAtMilliseconds: Int64? = nil
    ) throws -> DeviceToken {
        let start = platform == .webPush ? "https://push.example/\(name)/" : name
        let text = Array(start.utf8) + Array(repeating: UInt8(ascii: "x"), count: max(count - start.utf8.count, 0))
        let token: DeviceToken?
        switch platform {
        case .apns, .apnsSandbox, .courier: token = DeviceToken(bytes: text)
        case .gcm, .adm:
            token = DeviceToken(
                text: text, details: isInstallationID ? PushAddressDetails(isInstallationID: true) : nil)
        case .webPush:
            token = DeviceToken(
                text: text,
                details: PushAddressDetails(
                    webPushKeys: keys(generation: generation), expiresAtMilliseconds: expiresAtMilliseconds))
        }
        guard let token else { throw RegistryViolation("the test itself made no address of \(name)") }
        return token
    }

    /// The keys of a subscription; the public one is no point of the curve.
    private static func keys(generation: UInt8) -> WebPushKeys? {
        WebPushKeys(
            publicKey: [0x04] + Array(repeating: generation, count: 64),
            authenticationSecret: Array(repeating: generation ^ 0xff, count: 16))
    }
}
