public import Essentials
public import Notifications
public import PushCore

/// The adapters that a pipeline works with.
public struct PipelineParts {
    /// Where deliveries come from.
    public var source: any DeliverySource
    /// Where parked messages go.
    public var publisher: any MessagePublisher
    /// What sends pushes.
    public var transport: any PushTransport
    /// Looks devices and subscriptions up, on a loop of its own.
    public var registryReads: RegistryClient
    /// Writes to the same store, on a loop of its own: large fan-outs and dead tokens.
    public var registryWrites: RegistryClient
    /// Reads both clocks.
    public var now: () -> Moment

    /// Gathers the parts.
    public init(
        source: any DeliverySource, publisher: any MessagePublisher, transport: any PushTransport,
        registryReads: RegistryClient, registryWrites: RegistryClient, now: @escaping () -> Moment
    ) {
        self.source = source
        self.publisher = publisher
        self.transport = transport
        self.registryReads = registryReads
        self.registryWrites = registryWrites
        self.now = now
    }
}
