import Crypto
import Essentials
import Notifications
import RegistryCore

/// Registers devices for clients that know a token, and not an identifier.
struct DeviceRegistrar {
    /// The user of a device.
    enum Holder {
        /// An identity of a pool.
        case identity(String, pool: String)
        /// A user.
        case user(String)
    }

    let registry: any Registry
    let app: String

    /// Registers a device, or renews it.
    ///
    /// The device that has the token keeps its identifier if the same identity or user has it still. Values that the
    /// holder does not give, for example the identity of a user's device, are kept as well, unless the device changes
    /// hands.
    ///
    /// - Parameters:
    ///   - token: the device's address.
    ///   - platform: the service that the token is of.
    ///   - holder: the user of the device.
    ///   - nowMilliseconds: the time.
    /// - Returns: the identifier.
    /// - Throws: `RegistryError`.
    func register(
        _ token: DeviceToken, platform: Platform, for holder: Holder, nowMilliseconds: Int64
    ) throws(RegistryError) -> String {
        let old = try registry.device(at: token, platform: platform, app: app)
        var device: Device
        if let old, isHeld(old, by: holder) {
            device = old
            device.platform = platform
            device.token = token
            device.app = app
            device.registeredAtMilliseconds = nowMilliseconds
        } else {
            device = Device(
                deviceID: identifier(AddressKey(token, platform), holder), platform: platform, token: token, app: app,
                registeredAtMilliseconds: nowMilliseconds)
        }
        switch holder {
        case .identity(let identity, let pool):
            device.identityID = identity
            device.identityPoolID = pool
        case .user(let user): device.userID = user
        }
        try registry.upsert([device])
        return device.deviceID
    }

    /// Registers a device of a user whose client fetches its notifications, or renews it.
    ///
    /// - Parameters:
    ///   - clientID: the client's own name; the same name gets the same secret. Nil makes a new device.
    ///   - environment: the environment that the client asks for, which is a part of its name.
    ///   - user: the user.
    ///   - tokens: makes its secret and its token.
    ///   - nowMilliseconds: the time.
    /// - Returns: the secret that leads to the client's notifications.
    /// - Throws: `RegistryError`.
    func registerCourier(
        clientID: String?, environment: String, for user: String, _ tokens: CourierTokens, nowMilliseconds: Int64
    ) throws(RegistryError) -> CourierSecret {
        let secret =
            clientID.map { tokens.secret(clientID: $0, environment: environment, user: user, app: app) }
            ?? tokens.randomSecret()
        _ = try register(
            tokens.token(of: secret), platform: .courier, for: .user(user), nowMilliseconds: nowMilliseconds)
        return secret
    }

    /// Whether a device may count as the holder's: for a user also a device without a user.
    private func isHeld(_ device: Device, by holder: Holder) -> Bool {
        switch holder {
        case .identity(let identity, let pool):
            device.identityID.hasBytes(of: identity) && device.identityPoolID.hasBytes(of: pool)
        case .user(let user): device.userID == nil || device.userID.hasBytes(of: user)
        }
    }

    /// An identifier that depends on the address and on who uses the device.
    ///
    /// Registering again gives the same, even at the same time in two processes. It tells nothing of the address, which
    /// is a secret with at least as many random bits.
    private func identifier(_ key: AddressKey, _ holder: Holder) -> String {
        let name =
            switch holder {
            case .identity(let identity, let pool): "\(pool)\n\(identity)"
            case .user(let user): "user\n\(user)"
            }
        let text = Array("apus device\n\(app)\n\(name)\n".utf8) + key.bytes
        return RandomIdentifier.uuidText(SHA256Digest.digest(text))
    }
}
