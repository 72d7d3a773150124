/// The registry's records of large fan-outs: each is planned once and each chunk is served once, even if workers end.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`. A chunk is written down before it is published, so a planner that goes on for another one publishes
/// the same ranges under the same numbers. A planner reserves the fan-out for some seconds at a time
/// (`FanOutRules.planningMilliseconds`), and renews that with each step.
///
/// Beginnings, plans and cancellations survive a loss of power. Publishes and endings survive the end of any process,
/// but need not survive a loss of power: then the broker's redeliveries are served again, and a fan-out whose last
/// record was lost is shown as unfinished until it is forgotten.
public protocol FanOutRegistry: AnyObject {
    /// Finds the fan-out of an event, or begins one.
    ///
    /// A device that joins an audience after that joins later than the fan-out (`AudienceRequest.asOfFanOut`).
    /// Fan-outs that ended long ago are forgotten at the same time (`FanOutRules`).
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - planner: who asks; not 0.
    ///   - nowMilliseconds: when it is, in milliseconds since 1970.
    /// - Returns: the fan-out; its `planner` is the one who asks if it is to be planned by that one.
    /// - Throws: `RegistryError`, `.readOnly` if the store cannot be written.
    func beginFanOut(
        _ event: FanOutEvent, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut

    /// The fan-outs of events, those that have one.
    func fanOuts(of events: [EventDigest]) throws(RegistryError) -> [FanOut]

    /// Writes down the next chunks, all or none.
    ///
    /// Nothing is written if another planner has the fan-out, if it is not being planned any more, or if the first
    /// chunk does not follow the last one that is planned.
    ///
    /// - Parameters:
    ///   - chunks: the chunks in order; the last of a fan-out goes through nil.
    ///   - number: the fan-out.
    ///   - planner: who planned them.
    ///   - nowMilliseconds: when it is.
    /// - Returns: the fan-out as it is now.
    /// - Throws: `RegistryError` if the store cannot be written, `.notFound` if there is no such fan-out.
    func planChunks(
        _ chunks: [FanOutChunk], of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut

    /// Chunks of a fan-out, in order, after one; those of a fan-out that is done are forgotten.
    func chunks(of number: Int64, after chunk: Int, limit: Int) throws(RegistryError) -> [FanOutChunk]

    /// Notes that the broker has confirmed the chunks up to one; with the last the fan-out is planned.
    ///
    /// - Returns: the fan-out as it is now.
    func chunksPublished(
        through chunk: Int, of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut

    /// What is known of chunks, in their order; one of a fan-out that the registry does not know waits to be served.
    func chunkStates(_ keys: [FanOutChunkKey]) throws(RegistryError) -> [FanOutChunkState]

    /// Notes that chunks have ended; those that had ended before stay as they are.
    ///
    /// Every worker knows it when the call returns, and only then may the chunks' deliveries be acknowledged.
    func chunksEnded(_ endings: [FanOutChunkEnding], nowMilliseconds: Int64) throws(RegistryError)

    /// Fan-outs, the newest first, older than one if its number is given.
    func fanOuts(before number: Int64?, limit: Int) throws(RegistryError) -> [FanOut]

    /// One fan-out, or nil.
    func fanOut(_ number: Int64) throws(RegistryError) -> FanOut?

    /// Cancels a fan-out, unless it is done: chunks that have not begun are not sent, and one under way stops at its
    /// next page.
    ///
    /// - Returns: the fan-out as it is now, or nil if there is none.
    func cancelFanOut(_ number: Int64, nowMilliseconds: Int64) throws(RegistryError) -> FanOut?
}
