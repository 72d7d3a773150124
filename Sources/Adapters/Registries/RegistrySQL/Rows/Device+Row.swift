public import Notifications
public import RegistryCore

extension Device {
    /// The columns that a registration writes, those aside that hold numbers of names.
    public static let storedColumns: [StoredColumn<Device>] = [
        .text("device_id") { $0.deviceID }, .integer("platform") { $0.platform.registryNumber },
        .bytes("token") { AddressKey($0.token, $0.platform).bytes }, .text("user_id") { $0.userID },
        .integer("registered_at") { $0.registeredAtMilliseconds },
    ]

    /// The columns of `device d` that `init(_:from:app:identityPoolID:identityID:rest:)` reads.
    public static let readColumns = "d.device_id, d.platform, d.token, d.user_id, d.registered_at"
    /// How many they are.
    public static let readColumnCount: Int32 = 5

    /// Reads a device.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - first: where `readColumns` begin.
    ///   - app: its app.
    ///   - identityPoolID: the pool of its identity.
    ///   - identityID: its identity.
    ///   - rest: asks for the rest of its address; called only if there is one.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device.
    @inlinable
    public init(
        _ row: some RowReader, from first: Int32, app: String, identityPoolID: String?, identityID: String?,
        rest: () throws(RegistryError) -> StoredAddress?
    ) throws(RegistryError) {
        let recipient = try Recipient(row, from: first, app: app, rest: rest)
        self.init(
            deviceID: recipient.deviceID, platform: recipient.platform, token: recipient.token, app: app,
            identityPoolID: identityPoolID, identityID: identityID, userID: row.optionalText(first + 3),
            registeredAtMilliseconds: row.integer(first + 4))
    }
}

extension Recipient {
    /// The columns of `device d` that `init(_:from:app:rest:)` reads.
    public static let readColumns = "d.device_id, d.platform, d.token"

    /// Reads the parts of a device that a push needs.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - first: where `readColumns` begin.
    ///   - app: its app.
    ///   - rest: asks for the rest of its address; called only if there is one.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device, or its address has lost its rest.
    @inlinable
    public init(
        _ row: some RowReader, from first: Int32, app: String, rest: () throws(RegistryError) -> StoredAddress?
    ) throws(RegistryError) {
        switch AddressKey.read(platformNumber: row.integer(first + 1), row.bytes(first + 2)) {
        case .address(let platform, let token):
            self.init(deviceID: row.text(first), platform: platform, token: token, app: app)
        case .digest(let mark):
            guard let token = try rest()?.token(mark) else {
                throw row.corrupt(
                    "the device \"\(row.text(first))\" has lost its address, for example to a copy by an older Apus: "
                        + "register it again or remove it")
            }
            self.init(deviceID: row.text(first), platform: mark.platform, token: token, app: app)
        case nil: throw row.corrupt("the device \"\(row.text(first))\" has a bad platform or token")
        }
    }

    /// Whether the address of a row has a rest, which `init(_:from:app:rest:)` asks for.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - first: where `readColumns` begin.
    /// - Returns: whether there is one.
    public static func hasStoredAddress(_ row: some RowReader, from first: Int32) -> Bool {
        guard row.integer(first + 1) == Platform.webPush.registryNumber,
            case .digest = AddressKey.read(platformNumber: row.integer(first + 1), row.bytes(first + 2))
        else { return false }
        return true
    }
}

extension FurtherToken {
    /// The columns of `device_token t` that `init(_:from:of:)` reads.
    public static let readColumns = "t.kind, t.token, t.registered_at"

    /// Reads a token of a device.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - first: where `readColumns` begin.
    ///   - deviceID: the device.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no token.
    public init(_ row: some RowReader, from first: Int32, of deviceID: String) throws(RegistryError) {
        guard let kind = TokenKind(rawValue: row.text(first)), let token = DeviceToken(bytes: row.bytes(first + 1))
        else { throw row.corrupt("a further token of the device \"\(deviceID)\" has a bad kind or token") }
        self.init(deviceID: deviceID, kind: kind, token: token, registeredAtMilliseconds: row.integer(first + 2))
    }
}

extension RegisteredToken {
    /// Reads the registration of a token: kind, platform.
    ///
    /// - Throws: `RegistryError` with `.corrupt` if the row says neither.
    public init(_ row: some RowReader, from first: Int32, token: DeviceToken) throws(RegistryError) {
        let key = AddressKey(ofUnknownPlatform: token)
        guard let kind = TokenKind(rawValue: row.text(first)),
            let platform = AddressKey.platform(number: row.integer(first + 1), key.bytes)
        else { throw row.corrupt("a token has a bad kind or platform") }
        self.init(token: token, kind: kind, platform: platform)
    }
}
