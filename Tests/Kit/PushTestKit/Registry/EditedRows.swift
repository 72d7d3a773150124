import ChangeEvents
import DispatchCore
import Essentials
import Messages
import RegistryCore

/// The edits of its tables by another program that a registry in a database must survive.
///
/// Each check writes one number, the least or the greatest, wherever the registry reads one, and then reads.
public struct EditedRows {
    private static let event = FanOutEvent(
        digest: EventDigest(source: "test", identifier: "1"), source: "test", identifier: "1", type: "push.requested")
    private static let times = WallTime.earliest.milliseconds...WallTime.latest.milliseconds

    private let registry: any RegistryConformance.Store
    private let number: Int64
    private let execute: (String) throws -> Void

    /// Creates the checks.
    ///
    /// - Parameters:
    ///   - registry: an empty registry.
    ///   - number: the number to write.
    ///   - execute: runs a statement of SQL in its database.
    public init(
        _ registry: any RegistryConformance.Store, number: Int64, execute: @escaping (String) throws -> Void
    ) {
        self.registry = registry
        self.number = number
        self.execute = execute
    }

    /// Rows of devices and of fan-outs.
    ///
    /// - Parameter badge: the number as far as the column of badges can hold it.
    /// - Throws: `RegistryViolation`, or the registry's error.
    public func checkDevicesAndFanOuts(badge: Int64) throws {
        try registry.upsert([try RegistryConformance.device("device-0")])
        let fanOut = try registry.beginFanOut(Self.event, planner: 1, nowMilliseconds: 1)
        try execute(
            """
            UPDATE device SET badge = \(badge), registered_at = \(number);
            UPDATE fan_out SET position = \(number), position_subscription = \(number), chunks_planned = \(number),
                chunks_published = \(number), chunks_served = \(number), chunks_cancelled = \(number),
                devices_planned = \(number), begun_at = \(number), changed_at = \(number)
            """)
        let device = try found(try registry.device("device-0"), "the device")
        try expect(Self.times.contains(device.registeredAtMilliseconds), "the time of registration")
        try expect((0...1_000_000).contains(try found(try registry.badge(of: "device-0"), "the badge")), "the badge")
        for isRepeated in [false, true] {
            let counted = try registry.countBadges(["device-0"], for: Self.event.digest, isRepeated: isRepeated)[0]
            try expect((1...1_000_000).contains(counted), "the badge after it was counted")
        }
        let edited = try found(try registry.fanOut(fanOut.number), "the fan-out")
        var planner = FanOutPlanner(edited, planner: 1)
        planner.chunkFound(through: nil, subscriptions: [], deviceCount: 1)
        _ = planner.step
    }

    /// Rows of dead letters.
    ///
    /// - Throws: `RegistryViolation`, or the registry's error.
    public func checkDeadLetters() throws {
        _ = try registry.addDeadLetters(
            ["0a", "0b"].map { identifier in
                DeadLetter(
                    summary: DeadLetterSummary(
                        identifier: identifier, reason: "x", deadLetteredMilliseconds: 0, bodySizeBytes: 1),
                    message: Message(body: [1]))
            })
        try execute(
            """
            UPDATE dead_letter SET attempts = \(number), first_seen_at = \(number), dead_lettered_at = \(number),
                body_bytes = \(number)
            """)
        let letters = try registry.deadLetters(matching: DeadLetterFilter(), after: 0, limit: 10)
        try expect(DeadLetterSummary.batches(letters).joined().count == 2, "batches of letters")
        try expect(
            letters.allSatisfy { Self.times.contains($0.deadLetteredMilliseconds) && $0.bodySizeBytes >= 0 },
            "times and sizes of letters")
        let counts = try registry.deadLetterCounts(matching: DeadLetterFilter())
        try expect(counts.allSatisfy { Self.times.contains($0.oldestMilliseconds) }, "times of counts")
    }

    /// Rows of chunks.
    ///
    /// - Parameter bytes: five bytes, as the database writes them, in place of a list of rows.
    /// - Throws: `RegistryViolation`, or the registry's error.
    public func checkChunks(bytes: String) throws {
        let fanOut = try registry.beginFanOut(Self.event, planner: 1, nowMilliseconds: 1)
        try execute(
            """
            INSERT INTO fan_out_chunk (fan_out, number, after_position, after_subscription, through_position,
                through_subscription, subscriptions, devices)
            VALUES (\(fanOut.number), \(max(number, 1)), \(number), \(number), \(number), \(number), \(bytes),
                \(number))
            """)
        let chunk = try found(try registry.chunks(of: fanOut.number, after: 0, limit: 10).first, "the chunk")
        try expect(chunk.number > 0 && chunk.deviceCount >= 0, "the numbers of the chunk")
        let key = FanOutChunkKey(fanOut: fanOut.number, event: Self.event.digest, chunk: chunk.number)
        try expect(try registry.chunkStates([key]) == [.waiting], "the state of the chunk")
        try registry.chunksEnded([FanOutChunkEnding(key, isCancelled: false)], nowMilliseconds: 2)
        _ = try found(try registry.fanOut(fanOut.number), "the fan-out")
    }

    private func expect(_ isSo: Bool, _ what: String) throws { try RegistryConformance.expect(isSo, is: true, what) }

    private func found<Value>(_ value: Value?, _ what: String) throws -> Value {
        guard let value else { throw RegistryViolation("\(what) is not found") }
        return value
    }
}
