public import Essentials

/// Everything that a registry keeps about a device, subscriptions to records aside.
public struct DeviceRecord: Hashable, Sendable {
    /// The device.
    public var device: Device
    /// The datasets that it subscribed to, sorted.
    public var datasetNames: [String]
    /// Whether datasets that its identity gets later count as subscribed too.
    public var includesFutureDatasets: Bool
    /// The topics that it subscribed to by itself, sorted; those of its user are not among them.
    @ByBytes public var topics: [String]
    /// The number on its icon.
    public var badge: Int
    /// Its further tokens, sorted by kind.
    public var tokens: [FurtherToken]

    /// Creates a record.
    public init(
        device: Device, datasetNames: [String] = [], includesFutureDatasets: Bool = false, topics: [String] = [],
        badge: Int = 0, tokens: [FurtherToken] = []
    ) {
        self.device = device
        self.datasetNames = datasetNames
        self.includesFutureDatasets = includesFutureDatasets
        self.topics = topics
        self.badge = badge
        self.tokens = tokens
    }
}
