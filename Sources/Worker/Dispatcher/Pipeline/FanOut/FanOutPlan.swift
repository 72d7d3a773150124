import PushCore

/// A large fan-out that this worker plans, and the deliveries that are settled when that is done.
final class FanOutPlan {
    let item: PreparedEvent
    let event: FanOutEvent
    /// The history that each chunk's message bears.
    let parking: ParkingRecord
    /// The device to leave out.
    let excludedDeviceID: String?
    var tags: [DeliveryTag]
    var planner: FanOutPlanner
    /// The subscriptions that hear of a record's change, once they have been looked up.
    var subscriptions: [Int64]?

    init(
        item: PreparedEvent, event: FanOutEvent, parking: ParkingRecord, excludedDeviceID: String?,
        tags: [DeliveryTag], planner: FanOutPlanner
    ) {
        self.item = item
        self.event = event
        self.parking = parking
        self.excludedDeviceID = excludedDeviceID
        self.tags = tags
        self.planner = planner
    }
}
