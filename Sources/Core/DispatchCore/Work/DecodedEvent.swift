public import ChangeEvents
public import Notifications
public import RegistryCore

/// A decoded delivery: its event, its history, and the renderings of a requested push.
public final class DecodedEvent: Sendable {
    /// The broker's delivery.
    public let delivery: Delivery
    /// The history of the event.
    public let retryState: RetryState
    /// The event.
    public let event: ChangeEvent
    /// The renderings of a `push.requested`, made when it was validated; empty for all other types.
    let renderings: [AppRendering]
    /// The dataset that it is about, if it is about one.
    public let dataset: DatasetKey?
    /// The trace of the delivery; nil if the event has none.
    public let trace: EventTrace?

    /// Creates an event.
    public init(
        delivery: Delivery, retryState: RetryState, event: ChangeEvent, renderings: [AppRendering],
        trace: EventTrace? = nil
    ) {
        self.trace = trace
        self.delivery = delivery
        self.retryState = retryState
        self.event = event
        self.renderings = renderings
        dataset = if case .dataset(let change) = event.kind { change.key } else { nil }
    }

    /// Its type.
    public var type: EventType { event.type }

    /// Whether it is about a record, so that its audience consists of subscribers.
    public var isAboutRecord: Bool { if case .record = event.kind { true } else { false } }

    /// The change of a record that is compared with all subscriptions; nil for any other event, and for a retry or a
    /// chunk, which names its devices or subscriptions.
    public var matchedChange: RecordChange? {
        guard retryState.deviceIDs == nil, retryState.chunk == nil, case .record(let change) = event.kind else {
            return nil
        }
        return change
    }

    /// The digest of its source and identifier, which tells it from all other events.
    public var digest: EventDigest { EventDigest(source: event.source, identifier: event.identifier) }

    /// The identity by which the registry remembers it.
    public var identity: EventIdentity {
        EventIdentity(source: event.source, identifier: event.identifier, owner: flowName)
    }

    /// The sync count for the devices of its dataset; nil if it has none.
    var announcement: DatasetAnnouncement? {
        guard case .dataset(let change) = event.kind else { return nil }
        return DatasetAnnouncement(
            change, source: event.source, identifier: event.identifier, firstSeen: retryState.firstSeen)
    }

    /// Whether it comes whole from a backend, and not as a retry or as a page of a large fan-out.
    var isFresh: Bool { !retryState.isRequeuedCopy && retryState.deviceIDs == nil && retryState.cursor == nil }

    /// Whether it is a page or a chunk of a large fan-out.
    public var isPage: Bool { retryState.cursor != nil || retryState.chunk != nil }

    /// Whether it comes with its whole audience, so that it may be planned in chunks.
    public var mayBePlanned: Bool { retryState.deviceIDs == nil && !isPage }

    /// Whether each of its pushes gets one attempt only.
    var expiresImmediately: Bool {
        guard case .push(let push) = event.kind else { return false }
        return push.options.expirationSeconds == 0
    }

    /// The chunk that it is, if it is one.
    public var chunkKey: FanOutChunkKey? {
        retryState.chunk.map { FanOutChunkKey(fanOut: $0.fanOut, event: digest, chunk: $0.chunk.number) }
    }

    /// The audience; nil for a record, whose subscribers are found by its fields.
    public var audience: Audience? {
        switch event.kind {
        case .dataset(let change): .dataset(change.key)
        case .push(let push): push.audience
        case .record: nil
        }
    }

    /// The one device to leave out: the one that made the change, unless the history names the devices to serve.
    public var excludedDeviceID: String? {
        guard retryState.deviceIDs == nil, !retryState.notifiesOrigin else { return nil }
        return switch event.kind {
        case .dataset(let change): change.deviceID
        case .record(let change): change.deviceID
        case .push: nil
        }
    }

    /// The name of the flow of its fan-out: its app, or the identity pool of its dataset.
    public var flowName: String {
        switch event.kind {
        case .push(let push): push.app
        case .record(let change): change.app ?? ""
        case .dataset(let change): change.key.identityPoolID
        }
    }
}

extension DecodedEvent {
    /// The entries of its target that are wrong, and that this delivery has to deal with.
    ///
    /// A copy for a retry names the devices that are left, and a dead letter of wrong entries names these; the further
    /// pages of an audience have none.
    var refusedTargets: RefusedTargets? {
        guard case .push(let push) = event.kind, let refused = push.refused, !isPage else { return nil }
        return retryState.deviceIDs.map { refused.among($0) } ?? refused
    }
}
