/// Where the workers look for what they talk to; a scenario that puts something in between changes it in `prepare`.
struct StageAddresses: Sendable {
    /// The broker's nodes, for the workers and for `apus topology apply`.
    var brokerURLs: [String]
    /// The broker's nodes, for the publisher of the load.
    var publisherURLs: [String]
    /// APNs, as HOST:PORT.
    var apns: String
    /// The registry.
    var registryURL: String
}
