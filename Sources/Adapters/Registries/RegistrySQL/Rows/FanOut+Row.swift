import ChangeEvents
public import RegistryCore

extension FanOut {
    /// The columns of `fan_out f` that `init(_:)` reads.
    public static let readColumns = """
        f.id, f.event_source, f.event_id, f.event_type, f.app, f.state, f.newest_subscription, f.position, \
        f.position_subscription, f.is_whole, f.chunks_planned, f.chunks_published, f.chunks_served, \
        f.chunks_cancelled, f.devices_planned, f.planner, f.begun_at, f.changed_at
        """

    /// Reads a fan-out.
    ///
    /// - Throws: `RegistryError` with `.corrupt` if it has no state that there is.
    public init(_ row: some RowReader) throws(RegistryError) {
        guard let state = State(rawValue: row.text(5)) else { throw row.corrupt("a fan-out has a state that is none") }
        let source = row.text(1)
        let identifier = row.text(2)
        self.init(
            number: row.integer(0),
            event: FanOutEvent(
                digest: EventDigest(source: source, identifier: identifier), source: source, identifier: identifier,
                type: row.text(3), app: row.optionalText(4)),
            newestSubscription: row.integer(6), planner: row.integer(15), nowMilliseconds: row.integer(16))
        self.state = state
        position = AudienceCursor(row, from: 7)
        isWhole = row.integer(9) != 0
        chunksPlanned = FanOutRules.count(row.integer(10))
        chunksPublished = FanOutRules.count(row.integer(11))
        chunksServed = FanOutRules.count(row.integer(12))
        chunksCancelled = FanOutRules.count(row.integer(13))
        devicesPlanned = FanOutRules.count(row.integer(14))
        changedAtMilliseconds = row.integer(17)
    }
}

extension FanOutChunk {
    /// The columns of `fan_out_chunk` that adding one writes, the fan-out aside.
    static let storedColumns: [StoredColumn<FanOutChunk>] = [
        .integer("number") { Int64($0.number) }, .integer("after_position") { $0.after?.position },
        .integer("after_subscription") { $0.after?.subscription },
        .integer("through_position") { $0.through?.position },
        .integer("through_subscription") { $0.through?.subscription },
        .bytes("subscriptions") { $0.subscriptionBytes }, .integer("devices") { Int64($0.deviceCount) },
    ]

    /// The columns of `fan_out_chunk c` that `init(_:)` reads.
    static let readColumns = storedColumns.names(of: "c")

    /// Reads a chunk.
    init(_ row: some RowReader) {
        self.init(
            number: FanOutRules.count(row.integer(0)), after: AudienceCursor(row, from: 1),
            through: AudienceCursor(row, from: 3), subscriptions: Self.subscriptions(fromBytes: row.bytes(5)),
            deviceCount: FanOutRules.count(row.integer(6)))
    }
}

extension AudienceCursor {
    /// Reads a position of two columns; nil if the first is NULL.
    fileprivate init?(_ row: some RowReader, from first: Int32) {
        guard let position = row.optionalInteger(first) else { return nil }
        self.init(position: position, subscription: row.integer(first + 1))
    }
}
