import Notifications
import PushCore

/// A delivery that was understood and waits for its audience.
final class PreparedEvent {
    let delivery: Delivery
    let parking: ParkingRecord
    let event: ChangeEvent
    /// What a `push.requested` asks to push, rendered when it was validated.
    let renderings: [AppRendering]

    init(delivery: Delivery, parking: ParkingRecord, event: ChangeEvent, renderings: [AppRendering]) {
        self.delivery = delivery
        self.parking = parking
        self.event = event
        self.renderings = renderings
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

    /// What it tells its devices of its dataset; nil if it is no sync count.
    var announcement: DatasetAnnouncement? {
        guard case .dataset(let change) = event.kind else { return nil }
        return DatasetAnnouncement(
            change, source: event.source, identifier: event.identifier, firstSeen: parking.firstSeen)
    }

    /// Whether it comes whole from a backend, and not as a retry or as a page of a large fan-out.
    var isFresh: Bool { !parking.isParkedCopy && parking.deviceIDs == nil && parking.cursor == nil }

    /// Whether it comes with its whole audience, so that it may be planned in chunks.
    var mayBePlanned: Bool { parking.deviceIDs == nil && parking.cursor == nil && parking.chunk == nil }

    /// The chunk that it is, if it is one.
    var chunkKey: FanOutChunkKey? {
        parking.chunk.map { FanOutChunkKey(fanOut: $0.fanOut, event: digest, chunk: $0.chunk.number) }
    }

    /// Whom it is for; nil for a record, whose subscribers are found by its fields.
    var audience: Audience? {
        switch event.kind {
        case .dataset(let change): .dataset(change.key)
        case .push(let push): push.audience
        case .record: nil
        }
    }

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
