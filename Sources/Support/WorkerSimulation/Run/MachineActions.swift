import Notifications
import PushCore

/// What a machine asks for, in the order in which a worker does it.
struct MachineActions<Request> {
    /// Pushes to send.
    var sends: [PushRequest] = []
    /// Messages to publish.
    var publishes: [OutgoingMessage] = []
    /// What is asked of the registry, under the numbers of the answers.
    var requests: [(number: UInt64, request: Request)] = []
    /// Deliveries to reject.
    var rejections: [DeliveryTag] = []
    /// Deliveries to settle.
    var settles: [DeliveryTag] = []
    /// Whether to stop consuming, or to go on; nil for neither.
    var pausesConsumption: Bool?
}
