import PushCore

/// A delivery that was understood and waits for its audience.
struct PreparedEvent {
    var delivery: Delivery
    var parking: ParkingRecord
    var event: ChangeEvent

    /// The name of its type, for metrics.
    var typeName: String {
        switch event.kind {
        case .push: "push.requested"
        case .dataset(let change):
            switch change.operation {
            case .changed: "dataset.changed"
            case .deleted: "dataset.deleted"
            case .merged: "datasets.merged"
            }
        }
    }

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
