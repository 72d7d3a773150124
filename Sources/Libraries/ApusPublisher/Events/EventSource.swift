import ChangeEvents

/// The program that publishes: it makes events, one call for each type.
///
/// The worker's own code checks the content of an event when it is made. So a mistake is an error where it was made,
/// and no dead letter.
public struct EventSource: Hashable, Sendable {
    /// The CloudEvents attribute `source`: a URI of the program, for example `https://notes.example.com/backend`.
    public let uri: String
    /// The beginning of every type, for example `com.example`: the type is `com.example.dataset.changed` then.
    public let typePrefix: String

    /// Names the program.
    ///
    /// - Parameters:
    ///   - uri: the CloudEvents attribute `source`, 1 to 1024 bytes.
    ///   - typePrefix: the beginning of every type, without the period after it; empty for none.
    public init(_ uri: String, typePrefix: String = "") {
        self.uri = uri
        self.typePrefix = typePrefix
    }

    // MARK: Datasets

    /// A dataset has a newer sync count: devices of the identity that are subscribed to it get a silent push.
    ///
    /// - Parameters:
    ///   - dataset: the dataset.
    ///   - syncCount: its sync count now, at least 0.
    ///   - deviceID: the device that made the change, which gets no push.
    ///   - attributes: the identifier and the time of the event.
    /// - Returns: the event, to be published.
    /// - Throws: `PublisherError` (`eventInvalid`), which names the member, its value and the rule.
    public func datasetChanged(
        _ dataset: Dataset, syncCount: Int64, deviceID: String? = nil, attributes: EventAttributes = EventAttributes()
    ) throws(PublisherError) -> Event {
        try event(.datasetChanged, attributes) { data in
            dataset.write(to: &data)
            data.member("syncCount", syncCount)
            data.member("deviceId", deviceID)
        }
    }

    /// A dataset was deleted: the same devices get a silent push.
    ///
    /// - Parameters:
    ///   - dataset: the dataset.
    ///   - syncCount: its last sync count, if it is known.
    ///   - deviceID: the device that deleted it, which gets no push.
    ///   - attributes: the identifier and the time of the event.
    /// - Returns: the event, to be published.
    /// - Throws: `PublisherError` (`eventInvalid`), which names the member, its value and the rule.
    public func datasetDeleted(
        _ dataset: Dataset, syncCount: Int64? = nil, deviceID: String? = nil,
        attributes: EventAttributes = EventAttributes()
    ) throws(PublisherError) -> Event {
        try event(.datasetDeleted, attributes) { data in
            dataset.write(to: &data)
            data.member("syncCount", syncCount)
            data.member("deviceId", deviceID)
        }
    }

    /// Datasets were merged into one: the same devices get a silent push.
    ///
    /// - Parameters:
    ///   - dataset: the dataset that has the contents now.
    ///   - names: the datasets that were merged into it, 1 to 1000.
    ///   - syncCount: its sync count now, if it is known.
    ///   - deviceID: the device that merged them, which gets no push.
    ///   - attributes: the identifier and the time of the event.
    /// - Returns: the event, to be published.
    /// - Throws: `PublisherError` (`eventInvalid`), which names the member, its value and the rule.
    public func datasetsMerged(
        into dataset: Dataset, from names: [String], syncCount: Int64? = nil, deviceID: String? = nil,
        attributes: EventAttributes = EventAttributes()
    ) throws(PublisherError) -> Event {
        try event(.datasetsMerged, attributes) { data in
            dataset.write(to: &data)
            data.member("mergedDatasetNames", names)
            data.member("syncCount", syncCount)
            data.member("deviceId", deviceID)
        }
    }

    // MARK: Records

    /// A record was created: devices with a subscription that it matches get a push.
    ///
    /// - Parameters:
    ///   - record: the record.
    ///   - deviceID: the device that created it, which gets no push.
    ///   - attributes: the identifier and the time of the event.
    /// - Returns: the event, to be published.
    /// - Throws: `PublisherError` (`eventInvalid`), which names the member, its value and the rule.
    public func recordCreated(
        _ record: Record, deviceID: String? = nil, attributes: EventAttributes = EventAttributes()
    ) throws(PublisherError) -> Event { try event(.recordCreated, record, deviceID, attributes) }

    /// A record was changed: devices with a subscription that it matches get a push.
    ///
    /// - Parameters:
    ///   - record: the record, with all its fields as they are now.
    ///   - deviceID: the device that changed it, which gets no push.
    ///   - attributes: the identifier and the time of the event.
    /// - Returns: the event, to be published.
    /// - Throws: `PublisherError` (`eventInvalid`), which names the member, its value and the rule.
    public func recordUpdated(
        _ record: Record, deviceID: String? = nil, attributes: EventAttributes = EventAttributes()
    ) throws(PublisherError) -> Event { try event(.recordUpdated, record, deviceID, attributes) }

    /// A record was deleted: devices with a subscription that it matched get a push.
    ///
    /// - Parameters:
    ///   - record: the record, with its fields as they were.
    ///   - deviceID: the device that deleted it, which gets no push.
    ///   - attributes: the identifier and the time of the event.
    /// - Returns: the event, to be published.
    /// - Throws: `PublisherError` (`eventInvalid`), which names the member, its value and the rule.
    public func recordDeleted(
        _ record: Record, deviceID: String? = nil, attributes: EventAttributes = EventAttributes()
    ) throws(PublisherError) -> Event { try event(.recordDeleted, record, deviceID, attributes) }

    // MARK: Pushes

    /// Requests a push to devices that you name.
    ///
    /// - Parameters:
    ///   - push: the push, with its target.
    ///   - attributes: the identifier and the time of the event.
    /// - Returns: the event, to be published.
    /// - Throws: `PublisherError` (`eventInvalid`), which names the member, its value and the rule. Apple's rules for
    ///   the notification are checked as well.
    public func pushRequested(
        _ push: Push, attributes: EventAttributes = EventAttributes()
    ) throws(PublisherError) -> Event { try event(.pushRequested, attributes) { push.write(to: &$0) } }

    // MARK: Writing

    private func event(
        _ type: EventType, _ record: Record, _ deviceID: String?, _ attributes: EventAttributes
    ) throws(PublisherError) -> Event {
        try event(type, attributes) { data in
            record.write(to: &data)
            data.member("deviceId", deviceID)
        }
    }

    private func event(
        _ type: EventType, _ attributes: EventAttributes, _ data: (inout EventWriter) -> Void
    ) throws(PublisherError) -> Event {
        var writer = EventWriter()
        writer.object { event in
            event.attribute("specversion", "1.0")
            event.attribute("source", uri)
            event.attribute("type", typePrefix.isEmpty ? type.rawValue : "\(typePrefix).\(type.rawValue)")
            attributes.write(to: &event)
            event.attribute("datacontenttype", "application/json")
            event.member("data", data)
        }
        if let fault = writer.fault { throw PublisherError(.eventInvalid, fault) }
        return try Event(json: writer.bytes)
    }
}
