public import ChangeEvents

/// The registry's records of large fan-outs.
///
/// They ensure that each is planned once and each chunk is served once, although workers may end at any time.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`. A chunk is written down before it is published, so a planner that goes on for another one publishes
/// the same ranges under the same numbers. A planner reserves the fan-out for some seconds at a time
/// (`FanOutRules.planningMilliseconds`), and renews that with each step.
///
/// Begun, planned and cancelled fan-outs survive a loss of power. Publishes and ends of chunks survive the end of any
/// process, but need not survive a loss of power. Redelivered chunks are then served again, and a fan-out whose last
/// note was lost is shown as unfinished until it is forgotten.
public protocol FanOutRegistry: AnyObject {
    /// Finds the fan-out of an event, or begins one.
    ///
    /// A device that is added to an audience later has joined after the fan-out (`AudienceRequest.asOfFanOut`).
    /// Fan-outs that ended long ago are forgotten at the same time (`FanOutRules`).
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - planner: the number of the caller; not 0.
    ///   - nowMilliseconds: when it is, in milliseconds since 1970.
    /// - Returns: the fan-out; its `planner` is the caller if the caller has to plan it.
    /// - Throws: `RegistryError`, `.readOnly` if the store cannot be written.
    func beginFanOut(
        _ event: FanOutEvent, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut

    /// The existing fan-outs of events.
    func fanOuts(of events: [EventDigest]) throws(RegistryError) -> [FanOut]

    /// Writes down the next chunks, all or none.
    ///
    /// Nothing is written if another planner has the fan-out, if its planning has ended, or if the first chunk does not
    /// follow the last planned one.
    ///
    /// - Parameters:
    ///   - chunks: the chunks in order; the last of a fan-out goes through nil.
    ///   - number: the fan-out.
    ///   - planner: the number of their planner.
    ///   - nowMilliseconds: when it is.
    /// - Returns: the present fan-out.
    /// - Throws: `RegistryError` if the store cannot be written, `.notFound` if there is no such fan-out.
    func planChunks(
        _ chunks: [FanOutChunk], of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut

    /// Chunks of a fan-out, in order, after one; those of a fan-out that is done are forgotten.
    func chunks(of number: Int64, after chunk: Int, limit: Int) throws(RegistryError) -> [FanOutChunk]

    /// Notes that the broker has confirmed the chunks up to one; with the last the fan-out is planned.
    ///
    /// - Returns: the present fan-out.
    func chunksPublished(
        through chunk: Int, of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut

    /// The stored states of chunks, in their order; a chunk of an unknown fan-out waits to be served.
    func chunkStates(_ keys: [FanOutChunkKey]) throws(RegistryError) -> [FanOutChunkState]

    /// Records that chunks have ended; chunks that had ended before stay unchanged.
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
    /// - Returns: the present fan-out, or nil if there is none.
    func cancelFanOut(_ number: Int64, nowMilliseconds: Int64) throws(RegistryError) -> FanOut?
}

extension RegistryError {
    /// Says that a fan-out was forgotten.
    public static let noFanOut = RegistryError(
        .notFound, "There is no such fan-out any more. 'apus fanout list' shows those there are.")
}
