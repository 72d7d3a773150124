import Notifications

/// How an event is addressed when it is published.
extension ChangeEvent {
    /// The length of a routing key, in bytes (AMQP 0-9-1, 4.2.5.3 "Strings").
    private static let routingKeyBytesMaximum = 255

    /// The type and the subject of the event, at most 255 bytes.
    ///
    /// Operators may bind other queues by it. Work queues share the events by it, with all events of a dataset in one
    /// queue.
    public var routingKey: String {
        var key = "\(type.rawValue).\(subject)"
        while key.utf8.count > Self.routingKeyBytesMaximum { key.removeLast() }
        return key
    }

    private var subject: String {
        switch kind {
        case .dataset(let change): "\(change.key.identityID).\(change.key.datasetName)"
        case .record(let change): change.recordName
        case .push: identifier
        }
    }
}
