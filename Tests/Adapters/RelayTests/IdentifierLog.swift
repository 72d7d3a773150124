import ChangeEvents
import Messages
import PushTestKit

/// The identifiers of the events that came from a queue.
final class IdentifierLog: DeliveryHandler {
    let identifiers = Watched<Set<String>>([])
    private let settle: @Sendable ([DeliveryTag]) -> Void

    init(settle: @escaping @Sendable ([DeliveryTag]) -> Void) { self.settle = settle }

    func deliveriesReceived(_ deliveries: [Delivery]) {
        settle(deliveries.map(\.tag))
        identifiers.update { $0.formUnion(deliveries.compactMap(\.message.properties.messageID)) }
    }

    func sourceStateChanged(_ newState: DeliverySourceState) {}
}
