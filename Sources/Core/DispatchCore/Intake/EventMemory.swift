import ChangeEvents
import Essentials
import RegistryCore

/// Lets an event be pushed once, however often its publisher sends it.
///
/// **Which events.** Those whose message has the header `x-remember` (`Message.rememberHeader`) and whose exchange is a
/// publisher's. Events that come over HTTP under a key and those of a relay have it; a publisher over AMQP may set it.
/// What Apus publishes itself (retries, chunks, hops, replays of dead letters) comes by the default exchange, and is
/// never taken for a repetition.
///
/// **How.** The look-up of a batch also asks which of its events the registry remembers: these are acknowledged without
/// a push. An event is remembered when its pushes have ended by the rules of the promise, so also when their copies are
/// confirmed in a retry queue. Its deliveries are kept back until the registry has it, and then acknowledged. A kill
/// before costs what it costs without a memory; a kill after costs nothing.
///
/// **What it does not do.** An event that has become a dead letter as a whole is not remembered, because nothing was
/// pushed. Two workers that get two copies at the same moment both push. Where the registry cannot remember, deliveries
/// end all the same.
///
/// | an event is | means | can transition to |
/// |---|---|---|
/// | under way | it waits for the registry or for pushes; copies wait here | ended, when it is settled; gone, if lost |
/// | ended | the registry is to remember it | written, when the registry is asked |
/// | written | the registry was asked to remember it | gone: the delivery and its copies are acknowledged |
///
/// The prefetch bounds it, as everything that is unacknowledged.
struct EventMemory: Sendable {
    /// Deliveries that end, because their event is remembered or cannot be.
    struct Ending {
        /// All of them.
        var tags: [DeliveryTag] = []
        /// Those that were repetitions.
        var repeated: [DecodedEvent] = []
        /// Those of them with another content than the event that was pushed.
        var different: [DecodedEvent] = []

        mutating func add(_ copy: DecodedEvent, of content: Int64) {
            repeated.append(copy)
            if copy.delivery.message.contentDigest != content { different.append(copy) }
        }
    }

    private struct Entry: Sendable {
        let tag: DeliveryTag
        var copies: [DecodedEvent] = []
    }

    /// How long after one request the next one begins, in milliseconds, unless `eventsAtOnce` wait: a request with few
    /// events costs each of them several times as much.
    static let pauseMilliseconds: UInt64 = 20
    /// How many events are remembered at once without that pause.
    static let eventsAtOnce = EventMemoryBlock.eventsMaximum
    /// How long nothing is remembered after the registry said that it cannot be written, in milliseconds.
    static let readOnlyMilliseconds: UInt64 = 60_000
    /// How long nothing is remembered after another failure, so that deliveries do not wait for one after another.
    static let failingMilliseconds: UInt64 = 5_000

    /// Whether events are remembered at all.
    let isOn: Bool
    /// The events under way, ended and written.
    private var entries: [EventIdentity: Entry] = [:]
    /// The events that are under way, by their first deliveries.
    private var underWay: [DeliveryTag: RememberedEvent] = [:]
    private var ended: [RememberedEvent] = []
    private var written: [RememberedEvent]?
    /// Whether the first request was made, which has no events and finds out whether the registry can be written.
    private var hasTried = false
    private var unavailableUntil: MonotonicTime?
    /// When the next request may begin.
    private var pausedUntil = MonotonicTime(nanoseconds: 0)

    /// Creates an empty memory.
    ///
    /// - Parameter isOn: whether events are remembered at all.
    init(isOn: Bool) { self.isOn = isOn }

    /// Whether an event is under way that is to be remembered.
    var isInUse: Bool { !underWay.isEmpty }

    /// Whether no delivery waits for the registry to remember its event.
    var isIdle: Bool { ended.isEmpty && written == nil }

    /// When the next request is due; nil if there is nothing to ask, or the last one is not answered.
    var nextDeadline: MonotonicTime? { written == nil && !ended.isEmpty ? pausedUntil : nil }

    // MARK: Events begin

    /// Decides whether an event may begin, or is a copy of one that is under way, and kept until that has ended.
    mutating func admits(_ event: DecodedEvent, at now: MonotonicTime) -> Bool {
        guard isOn, event.retryState.isRemembered else { return true }
        let identity = event.identity
        if let index = entries.index(forKey: identity) {
            entries.values[index].copies.append(event)
            return false
        }
        if let until = unavailableUntil {
            guard until <= now else { return true }
            unavailableUntil = nil
        }
        let content = event.delivery.message.contentDigest
        entries[identity] = Entry(tag: event.delivery.tag)
        underWay[event.delivery.tag] = RememberedEvent(identity: identity, content: content)
        return true
    }

    /// The identities of those events that the registry may remember.
    func identities(of events: some Sequence<DecodedEvent>) -> [EventIdentity] {
        events.compactMap { underWay[$0.delivery.tag]?.identity }
    }

    // MARK: Events end

    /// The registry remembers an event, so that this delivery and the copies that wait for it are repetitions.
    ///
    /// - Parameters:
    ///   - event: the event, which is under way.
    ///   - content: the content that was pushed.
    /// - Returns: the deliveries that end.
    mutating func repetitionFound(_ event: DecodedEvent, of content: Int64) -> Ending {
        var ending = Ending(tags: [event.delivery.tag])
        ending.add(event, of: content)
        for copy in remove(event.delivery.tag)?.copies ?? [] {
            ending.tags.append(copy.delivery.tag)
            ending.add(copy, of: content)
        }
        return ending
    }

    /// An event that is under way will not be remembered.
    ///
    /// - Returns: the copies that waited for it, which begin now.
    mutating func abandon(_ tag: DeliveryTag) -> [Delivery] { remove(tag)?.copies.map(\.delivery) ?? [] }

    private mutating func remove(_ tag: DeliveryTag) -> Entry? {
        guard let event = underWay.removeValue(forKey: tag) else { return nil }
        return entries.removeValue(forKey: event.identity)
    }

    /// Deliveries are to be settled; those whose event is to be remembered are kept back, and taken out.
    mutating func settled(_ tags: inout [DeliveryTag]) {
        guard isInUse, !tags.isEmpty else { return }
        tags.removeAll { tag in
            guard let event = underWay.removeValue(forKey: tag) else { return false }
            ended.append(event)
            return true
        }
    }

    // MARK: The registry

    /// The events of the next request to the registry; nil if there is nothing to ask, or the last one is not answered.
    mutating func nextWrite(at now: MonotonicTime) -> [RememberedEvent]? {
        guard isOn, written == nil, !ended.isEmpty || !hasTried else { return nil }
        guard pausedUntil <= now || ended.count >= Self.eventsAtOnce else { return nil }
        let events = ended
        written = events
        ended = []
        hasTried = true
        return events
    }

    /// The registry has answered: the deliveries of the events end, whether it remembers them or not.
    mutating func writeEnded(at now: MonotonicTime) -> Ending {
        if written?.isEmpty == false { pausedUntil = now.advanced(byMilliseconds: Self.pauseMilliseconds) }
        var ending = Ending()
        for event in written ?? [] {
            guard let entry = entries.removeValue(forKey: event.identity) else { continue }
            ending.tags.append(entry.tag)
            for copy in entry.copies {
                ending.tags.append(copy.delivery.tag)
                ending.add(copy, of: event.content)
            }
        }
        written = nil
        return ending
    }

    /// The registry could not remember events: for a while none begins to be remembered.
    mutating func writeFailed(_ error: RegistryError, at now: MonotonicTime) {
        let isLasting = [.readOnly, .olderSchema].contains(error.code)
        unavailableUntil = now.advanced(
            byMilliseconds: isLasting ? Self.readOnlyMilliseconds : Self.failingMilliseconds)
    }

    // MARK: The connection

    /// The connection is lost: copies that wait come again, and events that have begun go on.
    ///
    /// - Parameter epoch: the first connection whose deliveries are good.
    mutating func sourceLost(before epoch: UInt32) {
        for (identity, entry) in entries where !entry.copies.isEmpty {
            entries[identity]?.copies = entry.copies.filter { $0.delivery.tag.epoch >= epoch }
        }
    }

    /// Drops the copies that wait, which the broker delivers to somebody else.
    mutating func drain() { sourceLost(before: .max) }
}
