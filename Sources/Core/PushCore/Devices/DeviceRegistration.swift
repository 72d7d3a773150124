public import Essentials
public import Notifications

/// A device together with its further tokens and what it subscribes to, as an import brings it.
public struct DeviceRegistration: Hashable, Sendable {
    /// The device.
    public var device: Device
    /// Datasets of its identity to subscribe to, beside those it has.
    public var datasetNames: [String]
    /// Topics of its app to subscribe to, beside those it has.
    @ByBytes public var topics: [String]
    /// Tokens beside its alert token, registered with the device; those of other kinds stay.
    public var tokens: [TokenKind: DeviceToken]

    /// Creates a registration.
    public init(
        device: Device, datasetNames: [String] = [], topics: [String] = [], tokens: [TokenKind: DeviceToken] = [:]
    ) {
        self.device = device
        self.datasetNames = datasetNames
        self.topics = topics
        self.tokens = tokens
    }

    /// The tokens with their device and moment, sorted by kind.
    public var furtherTokens: [FurtherToken] {
        tokens.sorted { $0.key.rawValue < $1.key.rawValue }.map { kind, token in
            FurtherToken(
                deviceID: device.deviceID, kind: kind, token: token,
                registeredAtMilliseconds: device.registeredAtMilliseconds)
        }
    }
}
