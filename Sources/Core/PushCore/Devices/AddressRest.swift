import Essentials
public import Notifications

/// A row of `device_address`: what the key of an address has no room for.
///
/// A device has one exactly if its key is a digest. Stores read it in a further question, so that devices of Apple's
/// platforms cost nothing more, and so that a registry before `AddressKey.schemaVersion` can be read.
public struct AddressRest: Hashable, Sendable {
    /// The whole address.
    public var address: [UInt8]
    /// The public key and the authentication secret of a Web Push subscription, one behind the other; or nothing.
    public var pushKeys: [UInt8]
    /// When the address ends, in milliseconds since 1970.
    public var expiresAtMilliseconds: Int64?
    /// When the device was registered, in milliseconds since 1970: a copy of its own row's, which is only read.
    public private(set) var registeredAtMilliseconds: Int64?

    /// Takes what the key of an address has no room for; nil if it has room for all.
    public init?(_ token: DeviceToken, _ platform: Platform) {
        guard AddressKey(token, platform).isDigest else { return nil }
        address = token.bytes
        pushKeys = token.details?.webPushKeys.map { $0.publicKey + $0.authenticationSecret } ?? []
        expiresAtMilliseconds = token.details?.expiresAtMilliseconds
    }

    /// The columns that a registration writes, the number of the device aside.
    public static let storedColumns: [StoredColumn<AddressRest>] = [
        .bytes("address") { $0.address }, .bytes("push_keys") { $0.pushKeys },
        .integer("expires_at") { $0.expiresAtMilliseconds },
    ]

    /// The columns of `device d JOIN device_address x` that `init(_:from:)` reads.
    public static let readColumns = "x.address, x.push_keys, x.expires_at, d.registered_at"

    /// Reads a row.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - first: where `readColumns` begin.
    public init(_ row: some RowReader, from first: Int32) {
        address = row.bytes(first)
        pushKeys = row.bytes(first + 1)
        expiresAtMilliseconds = row.optionalInteger(first + 2).map { WallTime(milliseconds: $0).milliseconds }
        registeredAtMilliseconds = row.optionalInteger(first + 3)
    }

    /// The whole address; nil if the row cannot be one with the mark.
    @usableFromInline
    func token(_ mark: AddressKey.Mark) -> DeviceToken? {
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
