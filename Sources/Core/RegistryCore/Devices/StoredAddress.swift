import Essentials
public import Notifications

/// A row of `device_address`: the parts of an address that its key has no room for.
///
/// A device has one exactly if its key is a digest. Stores read it in a further question, so that devices of Apple's
/// platforms cost nothing more, and so that a registry before `AddressKey.schemaVersion` can be read.
public struct StoredAddress: Hashable, Sendable {
    /// The whole address.
    public var address: [UInt8]
    /// The public key and the authentication secret of a Web Push subscription, one behind the other; or nothing.
    public var pushKeys: [UInt8]
    /// When the address ends, in milliseconds since 1970.
    public var expiresAtMilliseconds: Int64?
    /// When the device was registered, in milliseconds since 1970: a copy of its own row's, which is only read.
    public private(set) var registeredAtMilliseconds: Int64?

    /// Takes the parts that the key of an address has no room for; nil if it has room for all.
    public init?(_ token: DeviceToken, _ platform: Platform) {
        guard AddressKey(token, platform).isDigest else { return nil }
        address = token.bytes
        pushKeys = token.details?.webPushKeys.map { $0.publicKey + $0.authenticationSecret } ?? []
        expiresAtMilliseconds = token.details?.expiresAtMilliseconds
    }

    /// Takes the parts that a registry has kept.
    public init(
        address: [UInt8], pushKeys: [UInt8], expiresAtMilliseconds: Int64?, registeredAtMilliseconds: Int64?
    ) {
        self.address = address
        self.pushKeys = pushKeys
        self.expiresAtMilliseconds = expiresAtMilliseconds.map { WallTime(milliseconds: $0).milliseconds }
        self.registeredAtMilliseconds = registeredAtMilliseconds
    }

    /// The whole address; nil if the row cannot be one with the mark.
    public func token(_ mark: AddressKey.Mark) -> DeviceToken? {
        guard mark == .webPush else { return DeviceToken(text: address, details: mark.details) }
        guard
            let keys = WebPushKeys(
                publicKey: Array(pushKeys.prefix(WebPushKeys.publicKeyBytes)),
                authenticationSecret: Array(pushKeys.dropFirst(WebPushKeys.publicKeyBytes)))
        else { return nil }
        return DeviceToken(
            text: address,
            details: PushAddressDetails(
                webPushKeys: keys, expiresAtMilliseconds: expiresAtMilliseconds,
                registeredAtMilliseconds: registeredAtMilliseconds))
    }
}
