/// What datasets a device is subscribed to.
public struct DatasetSubscriptions: Hashable, Sendable {
    /// The names of the datasets, sorted.
    public var datasetNames: [String]
    /// Whether datasets that the identity gets later count too.
    public var includesFuture: Bool

    /// Creates a value.
    public init(datasetNames: [String], includesFuture: Bool) {
        self.datasetNames = datasetNames
        self.includesFuture = includesFuture
    }
}
