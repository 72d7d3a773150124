import ChangeEvents

/// Hands on what a consumer of outcomes receives, in order.
///
/// It holds no more than the consumer's prefetch, because only settled outcomes make room for others.
final class OutcomeInbox: DeliveryHandler {
    /// An event of the consumer.
    enum News: Sendable {
        case received([Delivery])
        case changed(DeliverySourceState)
    }

    /// The events, until `finish`.
    let news: AsyncStream<News>
    private let continuation: AsyncStream<News>.Continuation

    init() { (news, continuation) = AsyncStream.makeStream(of: News.self) }

    func deliveriesReceived(_ deliveries: [Delivery]) { continuation.yield(.received(deliveries)) }

    func sourceStateChanged(_ state: DeliverySourceState) { continuation.yield(.changed(state)) }

    /// Nothing more is wanted.
    func finish() { continuation.finish() }
}
