import Backoffice
import ChangeEvents
import Essentials
import Messages
import Notifications
import RegistryCore

/// Knows of each event which pushes it asks for and what became of them, and holds the workers to the promise.
///
/// An event is looked at whenever the broker has no message of it left: then each of its pushes must have ended.
final class Books {
    /// The largest difference between the clocks of workers and the true time, plus the time by which a worker may
    /// abandon a push that would expire before its next attempt.
    var expiryToleranceMilliseconds: Int64 = 0

    /// Whether the backend of `World.toldApp` is told of its pushes.
    var tellsOutcomes = false

    let world: World
    var events: [BookedEvent] = []
    var counts = BooksCounts()
    /// The greatest sync count that a device has got, or that ended otherwise: by device and dataset.
    private var ended: [Int32]
    /// The events of each dataset with messages at the broker.
    private var live: [[Int32]]
    /// The pushes of older changes that one of the live events of the dataset has to replace.
    private var debts: [[(event: Int32, device: Int32)]]
    /// The first violation.
    var violation: Violation?

    /// Opens the books of a world.
    init(world: World) {
        self.world = world
        ended = Array(repeating: -1, count: world.devices.count * World.datasetCount)
        live = Array(repeating: [], count: world.identityCount * World.datasetCount)
        debts = Array(repeating: [], count: world.identityCount * World.datasetCount)
    }

    func report(_ promise: Violation.Promise, _ detail: @autoclosure () -> String) {
        if violation == nil { violation = Violation(promise, detail()) }
    }

    // MARK: Events

    /// A backend is about to publish an event.
    func published(_ event: LoadedEvent, atNanoseconds now: UInt64, milliseconds: Int64) {
        precondition(event.number == events.count, "the numbers of events have no gaps")
        let expected = expectedPushes(of: event)
        counts.expected += expected.count { $0.state == .pending }
        if case .dataset(let identity, let dataset, _) = event.subject {
            live[identity * World.datasetCount + dataset].append(Int32(event.number))
        }
        events.append(
            BookedEvent(
                subject: event.subject, publishedNanoseconds: now,
                expiresAtMilliseconds: event.timeToLiveMilliseconds.map { milliseconds + $0 },
                expiresImmediately: event.expiresImmediately, expected: expected, sortedCount: expected.count))
    }

    private func expectedPushes(of event: LoadedEvent) -> [BookedEvent.Expected] {
        switch event.subject {
        case .invalid: return []
        case .dataset(let identity, let dataset, let origin):
            let devices = identity * World.devicesPerIdentity..<(identity + 1) * World.devicesPerIdentity
            return devices.filter { $0 != origin && World.follows(device: $0, dataset: dataset) }.compactMap(expected)
        case .topic(let app, let topic):
            return (0..<world.memberCount(topic: topic)).compactMap { expected(world.device(ofApp: app, index: $0)) }
        case .list:
            return Set(event.listed).sorted().map { device in
                var push = BookedEvent.Expected(device: Int32(device))
                if !world.devices[device].isRegistered { push.state = .optional }
                return push
            }
        case .record(let app, let room, let origin):
            var pushes: [BookedEvent.Expected] = []
            for index in world.subscriptions(app: app, room: room) {
                let subscription = world.subscriptions[index]
                for device in subscription.devices where device != origin {
                    guard var push = expected(device) else { continue }
                    push.subscription = Int32(subscription.row)
                    if subscription.firesOnce, subscription.firedFor != nil { push.state = .optional }
                    pushes.append(push)
                }
            }
            return pushes.sorted { $0.device < $1.device }
        }
    }

    private func expected(_ device: Int) -> BookedEvent.Expected? {
        world.devices[device].isRegistered ? BookedEvent.Expected(device: Int32(device)) : nil
    }

    // MARK: Messages

    /// The broker has a message more of an event.
    func messageArrived(_ event: Int) {
        events[event].messageCount += 1
        // A backend may publish it again after its end.
        guard events[event].messageCount == 1, events[event].hasEnded,
            case .dataset(let identity, let dataset, _) = events[event].subject
        else { return }
        live[identity * World.datasetCount + dataset].append(Int32(event))
    }

    /// The broker has a message less of an event: it was settled.
    func messageLeft(_ event: Int, atMilliseconds milliseconds: Int64) {
        events[event].messageCount -= 1
        guard events[event].messageCount == 0 else { return }
        closeEvent(event, milliseconds: milliseconds)
    }

    /// A message of an event went to the dead letters.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - devices: the names of its devices; nil for all.
    ///   - reason: why, as a word.
    ///   - isByBroker: whether the broker moved it there.
    ///   - detail: why, as a sentence.
    func deadLettered(_ event: Int, devices: [String]?, reason: String, isByBroker: Bool, detail: String = "") {
        counts.deadLetters += 1
        if case .invalid = events[event].subject { return }
        let causes: Set<String> = [
            "attempts-exhausted", "too-old", "status-404", "TopicDisallowed", "PayloadTooLarge",
        ]
        if !isByBroker, !causes.contains(reason) {
            report(.deadLettersHaveCauses, "Event \(event) is sound, and became a dead letter: \(reason). \(detail)")
        }
        guard let devices else {
            for index in events[event].expected.indices { end(event, index) }
            return noteEndForAll(event)
        }
        for name in devices {
            let (device, subscription) = Self.numbers(of: name)
            guard world.devices.indices.contains(device) else { continue }
            noteEnd(event, device: device)
            if let index = index(of: device, subscription, in: event) { end(event, index) }
        }
    }

    /// The device and the subscription that a requeued message names.
    static func numbers(of name: String) -> (device: Int, subscription: Int) {
        if let subscriber = Subscriber(retryName: name) {
            return (World.number(of: subscriber.deviceID) ?? -1, Int(subscriber.subscription))
        }
        return (World.number(of: name) ?? -1, 0)
    }

    // MARK: Pushes

    /// The index of a push among those that an event asks for.
    func index(of device: Int, _ subscription: Int, in event: Int) -> Int? {
        let expected = events[event].expected
        var low = 0
        var high = events[event].sortedCount
        while low < high {
            let middle = (low + high) / 2
            if expected[middle].device < device { low = middle + 1 } else { high = middle }
        }
        while low < events[event].sortedCount, expected[low].device == device {
            if expected[low].subscription == subscription { return low }
            low += 1
        }
        return expected[events[event].sortedCount...].firstIndex {
            $0.device == device && $0.subscription == subscription
        }
    }

    /// A worker sends a push.
    ///
    /// - Returns: its index among the pushes that the event asks for; nil if no event asks for it.
    func pushSent(_ event: Int, device: Int, subscription: Int) -> Int? {
        if let index = index(of: device, subscription, in: event) {
            events[event].expected[index].outCount &+= 1
            return index
        }
        guard isInAudience(device, subscription, of: event) else {
            report(
                .pushAskedFor,
                "Event \(event) (\(events[event].subject)) does not ask for a push to device \(device).")
            return nil
        }
        var push = BookedEvent.Expected(device: Int32(device), subscription: Int32(subscription))
        push.state = .optional
        push.outCount = 1
        events[event].expected.append(push)
        return events[event].expected.count - 1
    }

    private func isInAudience(_ device: Int, _ subscription: Int, of event: Int) -> Bool {
        switch events[event].subject {
        case .invalid, .list: false
        case .dataset(let identity, let dataset, _):
            world.devices[device].identity == identity && World.follows(device: device, dataset: dataset)
        case .topic(let app, let topic):
            world.devices[device].app == app && World.index(of: device) < world.memberCount(topic: topic)
        case .record(let app, let room, let origin):
            device != origin
                && world.subscriptions(app: app, room: room).contains { index in
                    world.subscriptions[index].row == Int64(subscription)
                        && world.subscriptions[index].devices.contains(device)
                }
        }
    }

    /// The push service took a push, whether the worker learns of it or not.
    func pushAccepted(_ event: Int, _ index: Int) {
        counts.accepted += 1
        let push = events[event].expected[index]
        if push.acceptedCount > 0 { counts.duplicates += 1 }
        events[event].expected[index].acceptedCount = push.acceptedCount &+ 1
        events[event].expected[index].state = .accepted
        noteEnd(event, device: Int(push.device))
    }

    /// The broker has a message that tells of pushes of an event.
    func told(_ event: Int, _ message: Message) {
        guard events.indices.contains(event), let outcome = try? OutcomeReport(message) else {
            return report(.outcomesAreTold, "A worker tells of the event \(event), which there is not, or tells badly.")
        }
        for push in outcome.pushes {
            guard let device = World.number(of: push.deviceID),
                let index = index(of: device, Self.row(push.subscriptionID), in: event)
            else { continue }
            counts.told += 1
            events[event].expected[index].isTold = true
        }
    }

    /// The row of a subscription, which its identifier names.
    private static func row(_ subscriptionID: String?) -> Int { Int(subscriptionID?.dropFirst() ?? "0") ?? 0 }

    /// A worker learned how an attempt ended.
    func pushAnswered(_ event: Int, _ index: Int) { events[event].expected[index].outCount &-= 1 }

    /// A push ended though it was not accepted.
    func end(_ event: Int, _ index: Int) {
        noteEnd(event, device: Int(events[event].expected[index].device))
        guard events[event].expected[index].state == .pending else { return }
        events[event].expected[index].state = .ended
    }

    private func noteEnd(_ event: Int, device: Int) {
        guard case .dataset(_, let dataset, _) = events[event].subject else { return }
        let index = device * World.datasetCount + dataset
        ended[index] = max(ended[index], Int32(event))
    }

    /// A change of a dataset has ended for all devices of its identity, also for the older changes that it replaces.
    private func noteEndForAll(_ event: Int) {
        guard case .dataset(let identity, _, _) = events[event].subject else { return }
        for index in 0..<World.devicesPerIdentity {
            noteEnd(event, device: identity * World.devicesPerIdentity + index)
        }
    }

    // MARK: The end of an event

    /// Checks an event without messages at the broker.
    private func closeEvent(_ event: Int, milliseconds: Int64) {
        let isFirst = !events[event].hasEnded
        if isFirst { checkOutcomes(event, milliseconds) }
        for index in events[event].expected.indices {
            guard events[event].expected[index].state == .pending else { continue }
            resolvePending(event, index, milliseconds)
        }
        events[event].hasEnded = true
        if case .dataset(let identity, let dataset, _) = events[event].subject {
            settleDebts(event, identity * World.datasetCount + dataset, milliseconds)
        }
        if isFirst { counts.eventsEnded += 1 }
    }

    private func resolvePending(_ event: Int, _ index: Int, _ milliseconds: Int64) {
        let device = Int(events[event].expected[index].device)
        let known = world.devices[device]
        if !known.isRegistered || !known.isServed || known.changedNanoseconds > events[event].publishedNanoseconds {
            counts.gone += 1
            return end(event, index)
        }
        if isCoalesced(event, device: device) {
            counts.coalesced += 1
            events[event].expected[index].state = .ended
            return
        }
        if hasExpired(event, milliseconds) {
            counts.expired += 1
            return end(event, index)
        }
        if events[event].expiresImmediately {
            counts.expired += 1
            return end(event, index)
        }
        if isClaimedByAnother(event, index) {
            counts.claimed += 1
            return end(event, index)
        }
        let isOut = events[event].expected[index].outCount > 0
        report(
            isOut ? .settledLast : .eventEnds,
            "Event \(event) (\(events[event].subject)) has left the broker, and its push to device \(device)"
                + " was neither accepted nor ended" + (isOut ? "; it is still out." : "."))
        end(event, index)
    }

    /// Checks that the backend knows of each accepted push, unless a killed worker's push is none any more.
    private func checkOutcomes(_ event: Int, _ milliseconds: Int64) {
        guard tellsOutcomes else { return }
        // A push that the event did not ask for stood for another event, which asks for it again.
        for index in 0..<events[event].sortedCount {
            let push = events[event].expected[index]
            guard push.state == .accepted, !push.isTold else { continue }
            let device = world.devices[Int(push.device)]
            guard device.app == World.toldApp, device.isRegistered, device.isServed,
                device.changedNanoseconds <= events[event].publishedNanoseconds,
                !hasExpired(event, milliseconds), !events[event].expiresImmediately,
                !isOlder(event, device: Int(push.device)), !isClaimedByAnother(event, index)
            else { continue }
            report(
                .outcomesAreTold,
                "Event \(event) (\(events[event].subject)) has left the broker, and nobody was told that its push to "
                    + "device \(push.device) was accepted.")
        }
    }

    /// Whether a newer change of the dataset has ended for a device, or is with the broker.
    private func isOlder(_ event: Int, device: Int) -> Bool {
        guard case .dataset(let identity, let dataset, _) = events[event].subject else { return false }
        return Int(ended[device * World.datasetCount + dataset]) > event
            || live[identity * World.datasetCount + dataset].contains { $0 > Int32(event) }
    }

    /// Whether another change of the dataset speaks for a push: one that has ended, or one that is with the broker.
    private func isCoalesced(_ event: Int, device: Int) -> Bool {
        guard case .dataset(let identity, let dataset, _) = events[event].subject else { return false }
        if Int(ended[device * World.datasetCount + dataset]) > event { return true }
        let index = identity * World.datasetCount + dataset
        guard live[index].contains(where: { $0 > Int32(event) }) else { return false }
        debts[index].append((Int32(event), Int32(device)))
        return true
    }

    /// Checks that a change which has left the broker replaced its older changes, or that others will.
    private func settleDebts(_ event: Int, _ dataset: Int, _ milliseconds: Int64) {
        live[dataset].removeAll { $0 == Int32(event) }
        guard !debts[dataset].isEmpty else { return }
        debts[dataset].removeAll { older, device in
            let known = world.devices[Int(device)]
            if !known.isRegistered || !known.isServed { return true }
            if known.changedNanoseconds > events[Int(older)].publishedNanoseconds { return true }
            if ended[Int(device) * World.datasetCount + dataset % World.datasetCount] > older { return true }
            if hasExpired(Int(older), milliseconds) { return true }
            guard !live[dataset].contains(where: { $0 > older }) else { return false }
            report(
                .eventEnds,
                "Event \(older) (\(events[Int(older)].subject)) was left to newer changes, the last of which,"
                    + " \(event), has left the broker without a push to device \(device).")
            return true
        }
    }

    private func hasExpired(_ event: Int, _ milliseconds: Int64) -> Bool {
        events[event].expiresAtMilliseconds.map { milliseconds + expiryToleranceMilliseconds >= $0 } ?? false
    }

    /// Whether another event fires the subscription of a push, or may have done so before this one did again.
    private func isClaimedByAnother(_ event: Int, _ index: Int) -> Bool {
        let row = Int(events[event].expected[index].subscription)
        guard row > 0, world.subscriptions[row - 1].firesOnce else { return false }
        let subscription = world.subscriptions[row - 1]
        return subscription.firedFor != EventDigest(source: "load", identifier: "e\(event)")
            || subscription.renewedNanoseconds > events[event].publishedNanoseconds
    }

    // MARK: The end of a run

    /// Looks at all events when nothing more can happen.
    func close() {
        for event in events.indices where !events[event].hasEnded {
            return report(
                .eventEnds,
                "Event \(event) (\(events[event].subject)) has not ended; the broker has "
                    + "\(events[event].messageCount) messages of it.")
        }
    }
}

/// The books' record of one event.
struct BookedEvent {
    /// One push that the event asks for.
    struct Expected {
        enum State: UInt8 {
            /// The push has not ended.
            case pending
            /// The push service took it.
            case accepted
            /// It ended in another way: a dead token, a dead letter.
            case ended
            /// It need not be, but may.
            case optional
        }

        var device: Int32
        /// The row of the subscription that it is for; 0 if it is for none.
        var subscription: Int32 = 0
        var state = State.pending
        var acceptedCount: UInt8 = 0
        /// Whether a backend was told of it.
        var isTold = false
        /// The number of its deliveries at living workers.
        var outCount: UInt16 = 0
    }

    var subject: Subject
    var publishedNanoseconds: UInt64
    /// When it loses its use, in milliseconds since 1970; nil if never.
    var expiresAtMilliseconds: Int64?
    var expiresImmediately: Bool
    /// In ascending order of devices as long as nothing was appended.
    var expected: [Expected]
    /// The number of its messages at the broker, including delivered ones.
    var messageCount = 0
    /// Whether it was found to have ended, at least once.
    var hasEnded = false
    /// How many devices it had when it was published: how `expected` is sorted.
    var sortedCount: Int
    /// Whether a copy of it has waited in a retry queue.
    var hasWaited = false
}
