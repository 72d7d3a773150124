import ChangeEvents
import Essentials
public import Notifications

/// The rules for names in the registry; every implementation of `Registry` checks them with these functions.
public enum RegistryRules {
    /// The longest device identifier, user or topic, in bytes of UTF-8.
    static let nameBytesMaximum = TextRule.name.bytesMaximum

    /// Whether this is a dataset name (`TextRule.datasetName`).
    public static func isDatasetName(_ name: String) -> Bool { TextRule.datasetName.isFollowed(by: name) }

    /// Checks a dataset name.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func checkDatasetName(_ name: String) throws(RegistryError) {
        try check(name, "dataset name", .datasetName)
    }

    /// Checks a topic.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func checkTopic(_ topic: String) throws(RegistryError) {
        try check(topic, "topic")
    }

    /// Checks the names of a device by the rules that events follow, so that an event can name it; an identity only
    /// together with its pool; and its address.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func check(_ device: Device) throws(RegistryError) {
        try check(device.deviceID, "device identifier")
        try check(device.app, "app", .app)
        if let pool = device.identityPoolID { try check(pool, "identity pool", .identity) }
        if let identity = device.identityID { try check(identity, "identity", .identity) }
        if let user = device.userID { try check(user, "user") }
        guard (device.identityID == nil) == (device.identityPoolID == nil) else {
            throw RegistryError(
                .invalid,
                "Device \(device.deviceID.excerpt) has an identity without its pool, or a pool without an identity: "
                    + "give both or neither.")
        }
        if let problem = AddressRules.problem(of: device.token, platform: device.platform) {
            throw RegistryError(
                .invalid,
                "The token of device \(device.deviceID.excerpt) is none of \(device.platform.rawValue): "
                    + "\(problem).")
        }
    }

    /// Checks a device and its subscriptions.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func check(_ registration: DeviceRegistration) throws(RegistryError) {
        try check(registration.device)
        for name in registration.datasetNames { try checkDatasetName(name) }
        for topic in registration.topics { try checkTopic(topic) }
        for token in registration.furtherTokens { try check(token, of: registration.device) }
        if !registration.datasetNames.isEmpty, registration.device.identityID == nil {
            throw RegistryError.withoutIdentity(registration.device.deviceID)
        }
    }

    /// Checks that a device may have a further token.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func check(_ token: FurtherToken, of device: Device) throws(RegistryError) {
        try check(token, platform: device.platform, alertToken: device.token)
    }

    /// Checks that a device with this platform and alert token may have a further token.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func check(
        _ token: FurtherToken, platform: Platform, alertToken: DeviceToken
    ) throws(RegistryError) {
        guard token.kind != .alert else {
            throw RegistryError(
                .invalid, "The alert token of \(token.deviceID.excerpt) is its own: register the device with it.")
        }
        guard platform.isAPNs else {
            throw RegistryError(
                .invalid,
                "Device \(token.deviceID.excerpt) has the platform \(platform.rawValue); only devices of APNS and "
                    + "APNS_SANDBOX have tokens of several kinds.")
        }
        if let problem = AddressRules.problem(of: token.token, platform: platform) {
            throw RegistryError(
                .invalid, "The \(token.kind.rawValue) token of \(token.deviceID.excerpt) is none: \(problem).")
        }
        guard token.token != alertToken else {
            throw RegistryError(
                .invalid,
                "The \(token.kind.rawValue) token of \(token.deviceID.excerpt) is the same as its alert token; iOS "
                    + "hands out another one for each kind. Register the one for \(token.kind.rawValue) pushes.")
        }
    }

    /// Checks the names of a user and of an app.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func checkOwner(_ userID: String, app: String) throws(RegistryError) {
        try check(userID, "user")
        try check(app, "app", .app)
    }

    /// Checks the names of a token.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func check(_ token: APIToken) throws(RegistryError) {
        try check(token.name, "name of a token")
        if let app = token.app { try check(app, "app", .app) }
    }

    /// Checks a name.
    ///
    /// - Throws: `RegistryError` with `.invalid`, saying which part of the rule is broken.
    static func check(_ name: String, _ what: String, _ rule: TextRule = .name) throws(RegistryError) {
        guard let requirement = rule.requirement(brokenBy: name) else { return }
        let found = requirement == rule.length ? "has \(name.utf8.count) bytes" : "is invalid"
        throw RegistryError(.invalid, "The \(what) \(name.excerpt) \(found); it must be \(requirement).")
    }
}
