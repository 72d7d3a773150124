extension DeadLetter {
    /// The headers that say which part of a large fan-out a message is: by the numbers of rows.
    private static let fanOutHeaders: Set<String> = [
        ParkingHeader.cursor, ParkingHeader.cursorSubscription, ParkingHeader.fanOut, ParkingHeader.chunk,
        ParkingHeader.through, ParkingHeader.throughSubscription, ParkingHeader.subscriptions,
    ]

    /// Whether a replay needs rows of the store that its worker had; in another store these numbers are of nothing, or
    /// of something else.
    ///
    /// Such are the parts of large fan-outs, and letters of record events that name their subscriptions
    /// (`Subscriber.parkedName`). Other letters name their devices by the identifiers that the devices have anywhere.
    var namesRows: Bool {
        let message = replay
        if message.headers.contains(where: { Self.fanOutHeaders.contains($0.name) }) { return true }
        guard isPerhapsOfRecord, case .array(let names) = message.header(ParkingHeader.devices) else { return false }
        return names.contains { name in
            if case .string(let text) = name { Subscriber(parkedName: text) != nil } else { false }
        }
    }

    /// Whether its event is one of a record, as far as can be told: an identifier of a device may look like the name of
    /// a subscriber.
    private var isPerhapsOfRecord: Bool {
        var type = summary.eventType ?? ""
        return type.withUTF8 { EventType(utf8: $0) }?.isOfRecord ?? true
    }
}
