import Dispatcher
import EventLoop
import Notifications
import RegistryAPI
import RegistryCore
import WorkerConfiguration

/// `apus device add`.
struct DeviceAddCommand: Command {
    private static let deviceID = CommandOption.value(
        "id", "DEVICE", "The device's identifier. Default: that of the device with this address, or a new one.")
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
            of the app with this token or endpoint is removed. A missing registry is created.
            """,
        examples: [
            .init(
                "apus device add --app chat --token 00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
                "Registers a device that is reached by its identifier and its token."),
            .init(
                "apus device add --app chat --token 00fc13ad --id phone-1 --identity-pool us-east-1:177a950c "
                    + "--identity us-east-1:be6f --dataset settings",
                "Registers a device of an identity; it gets a push when the dataset 'settings' changes."),
            .init(
                "apus device add --app chat --platform GCM --token cKb0eXampl3:APA91bF… --user anna",
                "Registers an Android device of Anna's."),
            .init(
                "apus device add --app chat --subscription subscription.json --user anna",
                "Registers a browser from the JSON of its PushSubscription."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options =
        [DeviceOptions.app] + DeviceAddressOptions.all + [
            deviceID, identityPool, identity, user, dataset, topic, .json,
        ]
        + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let app = try invocation.required(DeviceOptions.app)
        let (platform, token) = try DeviceAddressOptions.address(invocation)
        try DeviceRegistry.use(invocation, mode: .create) { registry, configuration in
            if let problem = PlatformToken.problem(of: token, platform: platform, key: try registry.courierKey()) {
                throw CommandFailure.usage("--token does not fit --platform: \(problem)")
            }
            if platform == .webPush, let problem = configuration.webPush.hosts.problem(ofEndpoint: token.bytes) {
                throw CommandFailure.usage(
                    "the endpoint of the subscription is refused: \(problem); webpush.trusted_hosts names exceptions")
            }
            let device = Device(
                deviceID: try invocation.string(Self.deviceID) ?? identifier(token, platform, app, registry),
                platform: platform, token: token, app: app, identityPoolID: invocation.string(Self.identityPool),
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
                invocation.output.line(report.report(device, tokens, subscriptions).json)
            } else {
                invocation.output.line(device.deviceID)
            }
        }
        return .ok
    }

    /// The identifier of the device that has the address, so that an app that registers twice stays one device; else a
    /// random one of 128 bits.
    private func identifier(
        _ token: DeviceToken, _ platform: Platform, _ app: String, _ registry: any Registry
    ) throws -> String {
        if let found = try registry.device(at: token, platform: platform, app: app) { return found.deviceID }
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return DeviceToken(bytes: bytes)?.hexadecimal ?? ""
    }
}
