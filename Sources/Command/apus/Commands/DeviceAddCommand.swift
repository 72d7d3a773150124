import EventLoop
import Notifications
import PushCore
import RegistryAPI

/// `apus device add`.
struct DeviceAddCommand: Command {
    private static let token = CommandOption.value(
        "token", "HEX", "The device token in hexadecimal digits, 1 to 256 bytes.", isRequired: true)
    private static let deviceID = CommandOption.value(
        "id", "DEVICE", "The device's identifier. Default: that of the device with this token, or a new one.")
    private static let platform = CommandOption.value(
        "platform", "PLATFORM", "APNS, APNS_SANDBOX, GCM or WEB. Default: APNS.")
    private static let identityPool = CommandOption.value(
        "identity-pool", "POOL", "The identity pool; needs --identity.")
    private static let identity = CommandOption.value(
        "identity", "IDENTITY", "The identity that uses the device; needs --identity-pool.")
    private static let user = CommandOption.value("user", "USER", "Your name of the user.")
    private static let dataset = CommandOption.value("dataset", "NAME", "Subscribe to this dataset. Repeatable.")
    private static let topic = CommandOption.value("topic", "NAME", "Subscribe to this topic. Repeatable.")

    let name = "add"
    let summary = "Register a device, or renew its token"
    let help = CommandHelp(
        discussion: """
            Registers a device now and prints its identifier. If the registry has the
            identifier, every value is replaced and subscriptions stay. A change of identity
            ends subscriptions to datasets, and a change of app those to topics. Another device
            of the app with this token is removed. A missing registry is created.
            """,
        examples: [
            .init(
                "apus device add --app chat --token 00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
                "Registers a device that is reached by its identifier and its token."),
            .init(
                "apus device add --app chat --token 00fc13ad --id phone-1 --identity-pool us-east-1:177a950c "
                    + "--identity us-east-1:be6f --dataset settings",
                "Registers a device of an identity; it gets a push when the dataset 'settings' changes."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options =
        [DeviceOptions.app, token, deviceID, platform, identityPool, identity, user, dataset, topic, .json]
        + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let token = try DeviceTokenOptions.token(try invocation.required(Self.token))
        let platformName = invocation.string(Self.platform) ?? Platform.apns.rawValue
        guard let platform = Platform(rawValue: platformName) else {
            let names = Platform.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure.usage("--platform takes one of \(names), not '\(platformName)'")
        }
        let app = try invocation.required(DeviceOptions.app)
        try DeviceRegistry.use(invocation, mode: .create) { registry, configuration in
            if let problem = PlatformToken.problem(of: token, platform: platform, key: try registry.courierKey()) {
                throw CommandFailure.usage("--token does not fit --platform: \(problem)")
            }
            let device = Device(
                deviceID: try invocation.string(Self.deviceID) ?? identifier(token, app, registry), platform: platform,
                token: token, app: app, identityPoolID: invocation.string(Self.identityPool),
                identityID: invocation.string(Self.identity), userID: invocation.string(Self.user),
                registeredAtMilliseconds: WallClock.nowMilliseconds())
            try registry.register([
                DeviceRegistration(
                    device: device, datasetNames: invocation.strings(Self.dataset),
                    topics: invocation.strings(Self.topic))
            ])
            DeviceRegistry.warnUnlessConfigured([app], configuration)
            let report = DeviceReport(showsToken: false)
            if invocation.isJSON {
                let subscriptions = try registry.datasetSubscriptions(of: device.deviceID)
                let tokens = try registry.tokens(of: [device.deviceID])[0]
                invocation.output.line(report.json(device, tokens, subscriptions))
            } else {
                invocation.output.line(device.deviceID)
            }
        }
        return .ok
    }

    /// The identifier of the device that has the token, so that an app that registers twice stays one device; else a
    /// random one of 128 bits.
    private func identifier(_ token: DeviceToken, _ app: String, _ registry: any Registry) throws -> String {
        let request = AudienceRequest(audience: .tokens([token], app: app))
        if let found = try registry.resolve([request], limit: 1).first?.devices.first,
            try registry.device(found.deviceID) != nil
        {
            return found.deviceID
        }
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return DeviceToken(bytes: bytes)?.hexadecimal ?? ""
    }
}
