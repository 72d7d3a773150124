/// What names the registry accepts; every implementation of `Registry` checks them with these functions.
public enum RegistryRules {
    /// The longest device identifier, app, pool, identity, user or topic, in bytes of UTF-8.
    public static let nameBytesMaximum = 256

    /// The longest dataset name, in bytes (Amazon Cognito Sync, `DatasetName`).
    public static let datasetNameBytesMaximum = 128

    /// Whether this is a dataset name: 1 to 128 of `a-z A-Z 0-9 _ . : -` (Amazon Cognito Sync, `DatasetName`).
    public static func isDatasetName(_ name: String) -> Bool {
        (1...datasetNameBytesMaximum).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122, 95, 46, 58, 45: true
                default: false
                }
            }
    }

    /// Checks a dataset name.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func checkDatasetName(_ name: String) throws(RegistryError) {
        guard isDatasetName(name) else {
            throw RegistryError(
                .invalid,
                "A dataset name is 1 to \(datasetNameBytesMaximum) of the characters a-z A-Z 0-9 _ . : -, not "
                    + "\(quoted(name)).")
        }
    }

    /// Checks a topic.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func checkTopic(_ topic: String) throws(RegistryError) {
        try check(topic, "topic")
    }

    /// Checks the names of a device: 1 to 256 bytes each without a NUL, which not every store can hold; and an identity
    /// only together with its pool.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func check(_ device: Device) throws(RegistryError) {
        try check(device.deviceID, "device identifier")
        try check(device.app, "app")
        if let pool = device.identityPoolID { try check(pool, "identity pool") }
        if let identity = device.identityID { try check(identity, "identity") }
        if let user = device.userID { try check(user, "user") }
        guard (device.identityID == nil) == (device.identityPoolID == nil) else {
            throw RegistryError(
                .invalid,
                "Device \(quoted(device.deviceID)) has an identity without its pool, or a pool without an identity: "
                    + "give both or neither.")
        }
    }

    /// Checks a device and what it subscribes to.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func check(_ registration: DeviceRegistration) throws(RegistryError) {
        try check(registration.device)
        for name in registration.datasetNames { try checkDatasetName(name) }
        for topic in registration.topics { try checkTopic(topic) }
        if !registration.datasetNames.isEmpty, registration.device.identityID == nil {
            throw RegistryError.withoutIdentity(registration.device.deviceID)
        }
    }

    /// Checks the names of a user and of an app.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func checkOwner(_ userID: String, app: String) throws(RegistryError) {
        try check(userID, "user")
        try check(app, "app")
    }

    /// Checks the names of a token.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func check(_ token: APIToken) throws(RegistryError) {
        try check(token.name, "name of a token")
        if let app = token.app { try check(app, "app") }
    }

    private static func check(_ name: String, _ what: String) throws(RegistryError) {
        guard (1...nameBytesMaximum).contains(name.utf8.count) else {
            throw RegistryError(
                .invalid,
                "The \(what) \(quoted(name)) has \(name.utf8.count) bytes; 1 to \(nameBytesMaximum) are allowed.")
        }
        guard !name.utf8.contains(0) else {
            let rest = String(decoding: name.utf8.filter { $0 != 0 }, as: UTF8.self)
            throw RegistryError(.invalid, "The \(what) \(quoted(rest)) has a NUL byte; leave it out.")
        }
    }

    private static func quoted(_ name: String) -> String {
        name.count <= 40 ? "\"\(name)\"" : "\"\(name.prefix(40))…\""
    }
}
