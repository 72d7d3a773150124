import Notifications
import PushCore

/// What the log says of single events: which one, and what became of it.
extension Pipeline {
    /// What became of an event when it was taken in.
    enum EventFate: String {
        /// It has devices, to which pushes go out.
        case matched
        /// It has no device.
        case unmatched
        /// A newer change of its dataset speaks for it.
        case coalesced
        /// It has devices, but no use any more, or will have none when its slow app has time for it.
        case expired
        /// Its app is slow and has more than its share, so it waits in a retry queue.
        case deferred
        /// Nobody can act on it; the reason says why.
        case rejected
    }

    /// Says at the level `debug` what became of an event, once: `event.handled` when it came from a backend,
    /// `event.retried` when a parked copy came back.
    ///
    /// - Parameters:
    ///   - item: the event.
    ///   - fate: what became of it.
    ///   - apps: the apps of its devices.
    ///   - deviceCount: how many devices it has, those of later pages left out.
    func log(_ item: PreparedEvent, _ fate: EventFate, apps: [String] = [], deviceCount: Int = 0) {
        // A page of a large fan-out is no event; that it was planned has been said.
        guard item.parking.cursor == nil, item.parking.chunk == nil else { return }
        guard item.parking.isParkedCopy else {
            return logger.log(.debug, "event.handled", fields(item, fate, apps, deviceCount))
        }
        logger.log(
            .debug, "event.retried", fields(item, fate, apps, deviceCount) + [.field("attempt", item.parking.attempt)])
    }

    /// The same for an event that cannot be acted on, and may not be known to be one.
    func logRejected(_ message: Message, _ rejection: EventRejection) {
        logger.log(
            .debug, "event.handled",
            fields(of: message) + [
                .field("outcome", EventFate.rejected.rawValue), .field("reason", rejection.reason.rawValue),
                .field("detail", rejection.message),
            ])
    }

    /// Which event a message is: its source, identifier, type and app, as far as they can be read.
    func fields(of message: Message) -> [LogField] {
        let outline = decoder.outline(of: message)
        var fields: [LogField] = [
            .field("source", outline.source ?? "-"), .field("id", outline.identifier ?? "-"),
            .field("type", outline.type ?? "-"),
        ]
        if let app = outline.app { fields.append(.field("app", app)) }
        return fields
    }

    private func fields(
        _ item: PreparedEvent, _ fate: EventFate, _ apps: [String], _ deviceCount: Int
    ) -> [LogField] {
        [
            .field("source", item.event.source), .field("id", item.event.identifier),
            .field("type", item.type.rawValue), .field("outcome", fate.rawValue),
            .field("app", (apps.isEmpty ? self.apps(of: item) : apps).joined(separator: ",")),
            .field("devices", deviceCount),
        ]
    }

    /// The apps that an event is for, as far as it says so.
    private func apps(of item: PreparedEvent) -> [String] {
        let name: String? =
            switch item.event.kind {
            case .push(let push): push.app
            case .record(let change): change.app
            case .dataset(let change): change.key.identityPoolID
            }
        return name.map { renderer.appIndices(ofFlow: $0).map { renderer.appName(at: $0) } } ?? []
    }
}
