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
    /// Who knows the devices; used on the pipeline's loop only.
    public var registry: any Registry
    /// Who knows the subscriptions to records: the same store, used on the pipeline's loop only.
    public var subscriptions: any SubscriptionRegistry
    /// Who knows the large fan-outs: the same store, used on the pipeline's loop only, which waits for it.
    public var fanOuts: any FanOutRegistry
    /// Writes down how far large fan-outs are; nil if `fanOuts` is to do that as well, on the pipeline's loop.
    public var fanOutNotes: FanOutNotes?
    /// What the clocks show.
    public var now: () -> Moment

    /// Gathers the parts.
    public init(
        source: any DeliverySource, publisher: any MessagePublisher, transport: any PushTransport,
        registry: any Registry & SubscriptionRegistry & FanOutRegistry, now: @escaping () -> Moment
    ) {
        self.source = source
        self.publisher = publisher
        self.transport = transport
        self.registry = registry
        subscriptions = registry
        fanOuts = registry
        self.now = now
    }
}
