import JSON
import Notifications
import RegistryAPI
import RegistryCore

/// Shows devices and their subscriptions, for people and for programs.
///
/// The JSON members have the names that `device import` reads.
struct DeviceReport {
    /// Whether tokens are shown whole.
    let showsToken: Bool

    /// One device with its further tokens, and with its subscriptions if they are given.
    func report(
        _ device: Device, _ tokens: [FurtherToken], _ subscriptions: DatasetSubscriptions? = nil
    ) -> Report {
        let address = PushSubscription(device.token)
        let subscription = showsToken ? address : nil
        var fields = device.texts(token: token(device)).map { name, value in
            // For programs the subscription of a browser holds its endpoint.
            Report.Field(subscription != nil && "\(name)" == "token" ? nil : "\(name)", value, label: "\(name)")
        }
        let end = device.token.details?.expiresAtMilliseconds
        fields += [
            .init(nil, subscription?.p256dh, label: "p256dh"), .init(nil, subscription?.auth, label: "auth"),
            .init("subscription", subscription.map(Self.raw)),
            .init(
                subscription == nil ? "expiresAt" : nil, end, label: address == nil ? nil : "expiresAt",
                text: end.map { "\($0) ms since 1970" }),
            .init(
                "registeredAt", device.registeredAtMilliseconds, label: "registeredAt",
                text: "\(device.registeredAtMilliseconds) ms since 1970"),
            .init("tokens", Report(tokens.map { .init($0.kind.rawValue, token($0.token)) })),
        ]
        fields += tokens.map { .init(nil, token($0.token), label: "\($0.kind.rawValue) token") }
        return Report(fields) + (subscriptions.map(Self.report) ?? [:])
    }

    /// The dataset subscriptions of a device.
    static func report(_ subscriptions: DatasetSubscriptions) -> Report {
        Report([
            .init(
                "datasets", subscriptions.datasetNames, label: "datasets",
                text: subscriptions.datasetNames.joined(separator: " ")),
            .init(
                "futureDatasets", subscriptions.includesFuture, label: "futureDatasets",
                text: subscriptions.includesFuture ? "yes" : "no"),
        ])
    }

    /// The columns of a list.
    static let header = ["DEVICE", "PLATFORM", "APP", "TOKEN", "IDENTITY POOL", "IDENTITY", "USER"]

    /// One device in the columns of a list.
    func columns(_ device: Device) -> [String] {
        [
            device.deviceID, device.platform.rawValue, device.app, token(device), device.identityPoolID ?? "-",
            device.identityID ?? "-", device.userID ?? "-",
        ]
    }

    private func token(_ token: DeviceToken) -> String { showsToken ? token.hexadecimal : token.description }

    private func token(_ device: Device) -> String {
        showsToken
            ? DeviceTokenText.write(device.token, platform: device.platform)
            : device.token.excerpt(for: device.platform)
    }

    private static func raw(_ subscription: PushSubscription) -> Report.Raw {
        var writer = JSONWriter()
        subscription.write(to: &writer)
        return Report.Raw(writer.bytes)
    }
}
