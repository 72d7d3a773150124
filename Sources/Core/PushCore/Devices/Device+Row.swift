public import Notifications

extension Device {
    /// The columns that a registration writes, those aside that hold numbers of names.
    public static let storedColumns: [StoredColumn<Device>] = [
        .text("device_id") { $0.deviceID }, .integer("platform") { $0.platform.registryNumber },
        .bytes("token") { $0.token.bytes }, .text("user_id") { $0.userID },
        .integer("registered_at") { $0.registeredAtMilliseconds },
    ]

    /// The columns of `device d` that `init(_:from:app:identityPoolID:identityID:)` reads.
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
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device.
    @inlinable
    public init(
        _ row: some RowReader, from first: Int32, app: String, identityPoolID: String?, identityID: String?
    ) throws(RegistryError) {
        let recipient = try Recipient(row, from: first, app: app)
        self.init(
            deviceID: recipient.deviceID, platform: recipient.platform, token: recipient.token, app: app,
            identityPoolID: identityPoolID, identityID: identityID, userID: row.optionalText(first + 3),
            registeredAtMilliseconds: row.integer(first + 4))
    }
}

extension Recipient {
    /// The columns of `device d` that `init(_:from:app:)` reads.
    public static let readColumns = "d.device_id, d.platform, d.token"

    /// Reads the parts of a device that a push needs.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - first: where `readColumns` begin.
    ///   - app: its app.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no device.
    @inlinable
    public init(_ row: some RowReader, from first: Int32, app: String) throws(RegistryError) {
        guard let platform = Platform(registryNumber: row.integer(first + 1)),
            let token = DeviceToken(bytes: row.bytes(first + 2))
        else { throw row.corrupt("the device \"\(row.text(first))\" has a bad platform or token") }
        self.init(deviceID: row.text(first), platform: platform, token: token, app: app)
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
        guard let kind = TokenKind(rawValue: row.text(first)),
            let platform = Platform(registryNumber: row.integer(first + 1))
        else { throw row.corrupt("a token has a bad kind or platform") }
        self.init(token: token, kind: kind, platform: platform)
    }
}

extension Platform {
    /// The number of the platform in the table `platform`.
    @inlinable
    public var registryNumber: Int64 {
        switch self {
        case .apns: 0
        case .apnsSandbox: 1
        case .gcm: 2
        case .courier: 3
        case .adm: 4
        case .webPush: 5
        }
    }

    /// The platform with a number, or nil.
    @inlinable
    public init?(registryNumber: Int64) {
        switch registryNumber {
        case 0: self = .apns
        case 1: self = .apnsSandbox
        case 2: self = .gcm
        case 3: self = .courier
        case 4: self = .adm
        case 5: self = .webPush
        default: return nil
        }
    }
}
