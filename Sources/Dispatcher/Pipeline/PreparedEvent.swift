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
        case .record(let change):
            switch change.operation {
            case .created: .recordCreated
            case .updated: .recordUpdated
            case .deleted: .recordDeleted
            }
        case .dataset(let change):
            switch change.operation {
            case .changed: .datasetChanged
            case .deleted: .datasetDeleted
            case .merged: .datasetsMerged
            }
        }
    }

    /// Whether it is about a record, so that its audience is made of subscribers.
    var isAboutRecord: Bool { if case .record = event.kind { true } else { false } }

    /// What tells it from all other events.
    var digest: EventDigest { EventDigest(source: event.source, identifier: event.identifier) }

    /// The dataset that it is about, if it is about one.
    let dataset: DatasetKey?

    /// Whether it comes whole from a backend, and not as a retry or as a page of a large fan-out.
    var isFresh: Bool { !parking.isParkedCopy && parking.deviceIDs == nil && parking.cursor == nil }

    /// The one device to leave out: the one that made the change, unless the history says whom to serve.
    var excludedDeviceID: String? {
        guard parking.deviceIDs == nil, !parking.notifiesOrigin else { return nil }
        return switch event.kind {
        case .dataset(let change): change.deviceID
        case .record(let change): change.deviceID
        case .push: nil
        }
    }
}
