/// A device together with what it subscribes to, as an import brings it.
public struct DeviceRegistration: Hashable, Sendable {
    /// The device.
    public var device: Device
    /// Datasets of its identity to subscribe to, beside those it has.
    public var datasetNames: [String]
    /// Topics of its app to subscribe to, beside those it has.
    public var topics: [String]

    /// Creates a registration.
    public init(device: Device, datasetNames: [String] = [], topics: [String] = []) {
        self.device = device
        self.datasetNames = datasetNames
        self.topics = topics
    }
}
