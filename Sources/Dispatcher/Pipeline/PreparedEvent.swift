import PushCore

/// A delivery that was understood and waits for its audience.
final class PreparedEvent {
    let delivery: Delivery
    let parking: ParkingRecord
    let event: ChangeEvent

    init(delivery: Delivery, parking: ParkingRecord, event: ChangeEvent) {
        self.delivery = delivery
        self.parking = parking
        self.event = event
        dataset = if case .dataset(let change) = event.kind { change.key } else { nil }
    }

    /// Its type, for metrics.
    var type: PipelineMetrics.EventType {
        switch event.kind {
        case .push: .pushRequested
        case .dataset(let change):
            switch change.operation {
            case .changed: .datasetChanged
            case .deleted: .datasetDeleted
            case .merged: .datasetsMerged
            }
        }
    }

    /// The dataset that it is about, if it is about one.
    let dataset: DatasetKey?

    /// Whether it comes whole from a backend, and not as a retry or as a page of a large fan-out.
    var isFresh: Bool { !parking.isParkedCopy && parking.deviceIDs == nil && parking.cursor == nil }

    /// The one device to leave out: the one that made the change, unless the history says whom to serve.
    var excludedDeviceID: String? {
        guard case .dataset(let change) = event.kind, parking.deviceIDs == nil, !parking.notifiesOrigin else {
            return nil
        }
        return change.deviceID
    }
}
