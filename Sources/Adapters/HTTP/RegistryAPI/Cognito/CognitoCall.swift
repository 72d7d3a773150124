import Essentials
import HTTPServer
import JSON
import Notifications
import RegistryCore

/// One authenticated request of the Cognito api, carried out on the registry's thread.
struct CognitoCall: Sendable {
    /// The app that the pool belongs to.
    let app: String
    let identityPoolID: String
    let values: PathValues
    let body: [UInt8]

    // MARK: Devices

    /// `RegisterDevice`.
    func registerDevice(_ context: RegistryContext) throws(CognitoError) -> [UInt8] {
        let identity = try identity()
        let members = try self.members(context)
        let registration = try CognitoRegistration(
            platform: try string(members, "Platform"), token: try string(members, "Token"), context.courierTokens)
        return try using(context) { (registry) throws(RegistryError) in
            let deviceID = try DeviceRegistrar(registry: registry, app: app).register(
                registration.token, platform: registration.platform, for: .identity(identity, pool: identityPoolID),
                nowMilliseconds: context.nowMilliseconds)
            return JSONWriter.object { writer in writer.member("DeviceId", deviceID) }
        }
    }

    // MARK: Datasets

    /// `SubscribeToDataset`.
    func subscribe(_ context: RegistryContext) throws(CognitoError) -> [UInt8] {
        let (deviceID, datasetName, identity) = try subscription()
        return try using(context) { (registry) throws(RegistryError) in
            try requireDevice(deviceID, of: identity, registry)
            try registry.subscribe(deviceID, toDataset: datasetName)
            return Array("{}".utf8)
        }
    }

    /// `UnsubscribeFromDataset`.
    ///
    /// Removing a missing subscription is no error: a client that repeats a request whose answer was lost has its wish.
    func unsubscribe(_ context: RegistryContext) throws(CognitoError) -> [UInt8] {
        let (deviceID, datasetName, identity) = try subscription()
        return try using(context) { (registry) throws(RegistryError) in
            try requireDevice(deviceID, of: identity, registry)
            _ = try registry.unsubscribe(deviceID, fromDataset: datasetName)
            return Array("{}".utf8)
        }
    }

    private func subscription() throws(CognitoError) -> (deviceID: String, datasetName: String, identity: String) {
        let identity = try identity()
        try CognitoRules.checkDatasetName(values["DatasetName"])
        try CognitoRules.checkDeviceID(values["DeviceId"])
        return (values["DeviceId"], values["DatasetName"], identity)
    }

    /// A device of another identity is treated as one that does not exist.
    private func requireDevice(_ deviceID: String, of identity: String, _ registry: any Registry) throws(RegistryError)
    {
        let device = try registry.device(deviceID)
        guard let device, device.app.hasBytes(of: app), device.identityPoolID.hasBytes(of: identityPoolID),
            device.identityID.hasBytes(of: identity)
        else { throw RegistryError(.notFound, "Device '\(deviceID)' not found for identity '\(identity)'.") }
    }

    // MARK: The pool

    /// `GetIdentityPoolConfiguration`.
    func configuration(_ context: RegistryContext) throws(CognitoError) -> [UInt8] {
        let stored = try using(context) { (registry) throws(RegistryError) in
            try registry.poolConfiguration(of: identityPoolID)
        }
        if let stored { return stored }
        return CognitoPoolConfiguration(applicationArns: nil, roleArn: nil).json(identityPoolID: identityPoolID)
    }

    /// `SetIdentityPoolConfiguration`.
    func setConfiguration(_ context: RegistryContext) throws(CognitoError) -> [UInt8] {
        let configuration = try CognitoPoolConfiguration(try members(context))
        let json = configuration.json(identityPoolID: identityPoolID)
        try using(context) { (registry) throws(RegistryError) in
            try registry.savePoolConfiguration(json, of: identityPoolID)
        }
        return json
    }

    // MARK: Common

    private func identity() throws(CognitoError) -> String {
        try CognitoRules.checkIdentifier(values["IdentityId"], "identityId")
        return values["IdentityId"]
    }

    private func members(_ context: RegistryContext) throws(CognitoError) -> JSONObject {
        do throws(JSONError) {
            if let members = try context.parser.parse(body).object { return members }
        } catch {
            throw .invalidParameter("The body is not JSON: \(error)")
        }
        throw .invalidParameter("The body is not a JSON object.")
    }

    private func string(_ members: JSONObject, _ name: StaticString) throws(CognitoError) -> String? {
        guard let value = members[name], !value.isNull else { return nil }
        guard let text = value.string else { throw .invalidParameter("\(name) is not a string.") }
        return text
    }

    private func using<Value>(
        _ context: RegistryContext, _ body: (any ServedRegistry) throws(RegistryError) -> Value
    ) throws(CognitoError) -> Value {
        do throws(RegistryError) {
            return try context.using(body)
        } catch {
            throw CognitoError(error)
        }
    }
}

/// The body of `RegisterDevice`: `{"Platform": "APNS", "Token": "…"}`.
struct CognitoRegistration {
    let platform: Platform
    let token: DeviceToken

    /// Reads a platform, one of Amazon Cognito's four, and a token.
    init(
        platform platformName: String?, token text: String?, _ courier: CourierTokens
    ) throws(CognitoError) {
        guard let platformName, !platformName.isEmpty else {
            throw .invalidParameter("Platform is missing; it is APNS, APNS_SANDBOX, GCM or ADM.")
        }
        guard let text, !text.isEmpty else { throw .invalidParameter("Token is missing.") }
        let known: [Platform] = [.apns, .apnsSandbox, .gcm, .adm]
        guard let platform = Platform(rawValue: platformName), known.contains(platform) else {
            throw .invalidParameter(
                "Platform '\(platformName.prefix(40))' is not known; it is APNS, APNS_SANDBOX, GCM or ADM.")
        }
        self.platform = platform
        do throws(PlatformTokenError) {
            token = try PlatformToken.read(text, platform: platform, courier)
        } catch {
            throw .invalidParameter("Token is invalid: \(error.message)")
        }
    }
}
