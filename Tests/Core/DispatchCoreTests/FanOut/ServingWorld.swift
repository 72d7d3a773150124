import ChangeEvents
import DispatchCore
import Essentials
import PushTestKit
import RegistryCore
import Testing

/// A serving machine in a random world, and a model of what it may do: each action is compared with the model.
struct ServingWorld {
    /// A delivery as the model knows it: its page of index n begins at the position n.
    struct Delivery {
        let flow: FanOutFlow
        let isChunk: Bool
        let pageCount: Int64
        var pagesBegun: Int64 = 0
        var pagesOut = 0
        /// Whether no further page is to begin.
        var isRead = false
        var isDeadLetter = false
        var isRefused = false
        var isRepeated = false
        /// Whether its ending is with the registry, or never will be.
        var isRecorded = false
        /// Whether it left the worker unserved, or was forgotten with its connection.
        var isGone = false
        var isReleased = false
        var endCount = 0

        /// Whether it is a chunk under way.
        var isBegun: Bool { isChunk && pagesBegun > 0 && !isGone && !(isRead && pagesOut == 0) }
    }

    static let flows = [ServingBench.chat, ServingBench.mail, FanOutFlow(name: "news", apps: [2])]
    static let pagesAskedMaximum = 2

    let seed: UInt64
    var random: SeededGenerator
    var bench: ServingBench
    var epoch: UInt32 = 1
    var deliveries: [DeliveryTag: Delivery] = [:]
    /// The chunks in the order in which they began.
    var begun: [DeliveryTag] = []
    /// The deliveries that have not begun, in the order of their flow.
    var unbegun: [FanOutFlow: [DeliveryTag]] = [:]
    var asked: [FanOutServing.PageRequest] = []
    var recording: [FanOutChunkEnding] = []
    /// For each flow that may be served: how many turns other flows have had since its last one.
    var turnsOfOthers: [FanOutFlow: Int] = [:]
    var asksAgainAt = MonotonicTime(nanoseconds: 0)

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        bench = ServingBench(pagesAskedMaximum: Self.pagesAskedMaximum)
    }

    func chance(_ percent: Int, _ random: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    func check(_ holds: Bool, _ rule: @autoclosure () -> String) {
        if !holds { Issue.record("\(rule()), seed \(seed)") }
    }

    // MARK: The model of turns

    /// The delivery of a flow whose page is next, whether or not it may be served.
    func head(of flow: FanOutFlow) -> DeliveryTag? {
        let underWay = begun.first { tag in
            guard let delivery = deliveries[tag] else { return false }
            return delivery.flow == flow && delivery.isBegun && !delivery.isRead
        }
        return underWay ?? unbegun[flow]?.first
    }

    func mayBeServed(_ flow: FanOutFlow) -> Bool {
        guard let head = head(of: flow), !asked.contains(where: { deliveries[$0.tag]?.flow == flow }) else {
            return false
        }
        let before = begun.prefix { $0 != head }.compactMap { deliveries[$0] }.filter { $0.isBegun && $0.flow == flow }
        guard before.allSatisfy(\.isRead) else { return false }
        let pagesBegun = deliveries[head]?.pagesBegun ?? 0
        return before.isEmpty || before.count == 1 && pagesBegun < FanOutServing.pagesAheadMaximum
    }

    // MARK: Events

    mutating func arrive() {
        let number = UInt64(deliveries.count + 1)
        let tag = ServingBench.tag(number, epoch: epoch)
        let flow = Self.flows.randomElement(using: &random) ?? ServingBench.chat
        let isChunk = chance(80, &random)
        deliveries[tag] = Delivery(flow: flow, isChunk: isChunk, pageCount: Int64.random(in: 1...5, using: &random))
        unbegun[flow, default: []].append(tag)
        bench.serving.arrived(
            FanOutDelivery(tag: tag, key: isChunk ? ServingBench.key(number) : nil, flow: flow))
    }

    mutating func ask(mayServe: Set<FanOutFlow> = Set(flows)) {
        let mayAsk = asked.count < Self.pagesAskedMaximum && bench.now >= asksAgainAt
        let fit = Self.flows.filter { mayAsk && mayServe.contains($0) && mayBeServed($0) }
        guard let request = bench.ask(where: { mayServe.contains($0.flow) }) else {
            return check(fit.isEmpty, "no page is asked for, though one may be")
        }
        guard let delivery = deliveries[request.tag] else { return check(false, "an unknown delivery is served") }
        check(fit.contains(delivery.flow), "\(request) breaks the bounds")
        check(request.tag == head(of: delivery.flow), "\(request) is not the next of its flow")
        check((request.cursor?.position ?? 0) == delivery.pagesBegun, "\(request) is not its next page")
        asked.append(request)
        turnsOfOthers[delivery.flow] = 0
        for flow in fit where flow != delivery.flow {
            turnsOfOthers[flow, default: 0] += 1
            check(turnsOfOthers[flow, default: 0] < Self.flows.count, "\(flow.name) waits for too many turns")
        }
    }

    /// The registry answers for a page.
    mutating func answerPage(alwaysResolves: Bool = false) {
        guard let index = asked.indices.randomElement(using: &random) else { return }
        let request = asked.remove(at: index)
        guard let delivery = deliveries[request.tag] else { return }
        check(bench.serving.isAsked(request.tag), "\(request) is not wanted any more")
        switch alwaysResolves ? 100 : Int.random(in: 0..<100, using: &random) {
        case 0..<10:
            asksAgainAt = bench.now.advanced(byMilliseconds: ServingBench.repeatDelayMilliseconds)
            return bench.serving.pageFailed(request.tag, at: bench.now)
        case 10..<15: rejectPage(request.tag)
        case 15..<22 where delivery.isChunk: endChunk(request.tag, .cancelled)
        case 22..<29 where delivery.isChunk: endChunk(request.tag, .served)
        default: resolvePage(request.tag)
        }
        unbegun[delivery.flow]?.removeAll { $0 == request.tag }
        if !unbegun.values.contains(where: { !$0.isEmpty }) { turnsOfOthers = [:] }
    }

    private mutating func resolvePage(_ tag: DeliveryTag) {
        guard var delivery = deliveries[tag] else { return }
        if delivery.pagesBegun == 0, delivery.isChunk { begun.append(tag) }
        delivery.pagesBegun += 1
        let isLast = delivery.pagesBegun == delivery.pageCount
        if delivery.isChunk {
            delivery.pagesOut += 1
            delivery.isRead = isLast
        }
        let next = isLast ? nil : AudienceCursor(position: delivery.pagesBegun)
        deliveries[tag] = delivery
        bench.serving.pageResolved(tag, next: next, at: bench.now, into: &bench.actions)
    }

    private mutating func rejectPage(_ tag: DeliveryTag) {
        if deliveries[tag]?.isChunk == true {
            if deliveries[tag]?.pagesBegun == 0 { begun.append(tag) }
            // The dead letter goes out in place of the page.
            deliveries[tag]?.pagesBegun += 1
            deliveries[tag]?.pagesOut += 1
            deliveries[tag]?.isRead = true
            deliveries[tag]?.isDeadLetter = true
        }
        bench.serving.pageRejected(tag, at: bench.now, into: &bench.actions)
    }

    private mutating func endChunk(_ tag: DeliveryTag, _ state: FanOutChunkState) {
        if deliveries[tag]?.pagesBegun == 0, state == .served { deliveries[tag]?.isRepeated = true }
        deliveries[tag]?.isRead = true
        bench.serving.chunkIsOver(tag, state, into: &bench.actions)
    }

    /// A page ends, also one whose delivery is lost.
    mutating func endPage() {
        let out = begun.filter { deliveries[$0].map { $0.pagesOut > 0 } ?? false }
        guard let tag = out.randomElement(using: &random) else { return }
        let isRefused = chance(5, &random)
        deliveries[tag]?.pagesOut -= 1
        if isRefused { deliveries[tag]?.isRefused = true }
        bench.serving.pageEnded(tag, refusal: isRefused ? "too large" : nil, into: &bench.actions)
    }

    /// The registry answers to the endings.
    mutating func answerEndings(alwaysRecords: Bool = false) {
        guard !recording.isEmpty else { return }
        let dice = alwaysRecords ? 100 : Int.random(in: 0..<100, using: &random)
        let endings = recording
        recording = []
        if dice < 25 {
            let error = RegistryError(.unavailable, "locked")
            return bench.serving.endingsNotRecorded(error, at: bench.now, into: &bench.actions)
        }
        for tag in deliveries.keys where endings.contains(where: { $0.key.chunk == Int(tag.number) }) {
            deliveries[tag]?.isRecorded = true
        }
        guard dice >= 30 else {
            let error = RegistryError(.readOnly, "full")
            return bench.serving.endingsNotRecorded(error, at: bench.now, into: &bench.actions)
        }
        bench.serving.endingsRecorded(into: &bench.actions)
    }

    /// Some of the flows that have pages out hang.
    mutating func hang() {
        let flows = bench.serving.flowsOut.map(\.flow).filter { _ in Bool.random(using: &random) }
        for delivery in bench.serving.flowsHang(flows, at: bench.now, into: &bench.actions) {
            check(flows.contains(delivery.flow), "a delivery of another flow leaves")
            check(unbegun[delivery.flow]?.contains(delivery.tag) == true, "a delivery leaves that has begun")
            unbegun[delivery.flow]?.removeAll { $0 == delivery.tag }
            if Bool.random(using: &random) {
                unbegun[delivery.flow]?.append(delivery.tag)
                bench.serving.arrived(delivery)
            } else {
                deliveries[delivery.tag]?.isGone = true
                deliveries[delivery.tag]?.isReleased = true
            }
        }
        turnsOfOthers = [:]
    }

    mutating func loseSource() {
        epoch += 1
        if Bool.random(using: &random) { bench.serving.sourceLost(into: &bench.actions) }
        bench.serving.sourceLost(before: epoch, into: &bench.actions)
        forget { !$0.isRead }
    }

    mutating func drain() {
        bench.serving.drain(into: &bench.actions)
        forget { !$0.isRead && ($0.pagesBegun == 0 || !$0.isChunk) }
    }

    private mutating func forget(where isForgotten: (Delivery) -> Bool) {
        for (tag, delivery) in deliveries where !delivery.isReleased && isForgotten(delivery) {
            deliveries[tag]?.isGone = true
            unbegun[delivery.flow]?.removeAll { $0 == tag }
        }
        turnsOfOthers = [:]
    }

    // MARK: Actions

    /// Compares what the machine has done with the model.
    mutating func collect() {
        let actions = bench.takeActions()
        for tag in actions.pagesAbandoned {
            check(asked.contains { $0.tag == tag }, "a page was abandoned that nobody resolves")
            check(deliveries[tag]?.isGone == true, "a page was abandoned that is wanted")
            asked.removeAll { $0.tag == tag }
        }
        for tag in actions.released {
            guard let delivery = deliveries[tag] else { continue }
            check(!delivery.isReleased, "\(tag) was released twice")
            check(delivery.isGone || delivery.pagesOut == 0, "\(tag) was released with a page out")
            deliveries[tag]?.isReleased = true
        }
        if !actions.endingsToRecord.isEmpty {
            check(recording.isEmpty, "two requests record endings")
            recording = actions.endingsToRecord
        }
        for tag in actions.settles {
            guard let delivery = deliveries[tag] else { continue }
            check(delivery.isRecorded || delivery.isDeadLetter || delivery.isRepeated, "\(tag) was settled too early")
            check(!delivery.isRefused, "\(tag) was settled and not rejected")
            end(tag)
        }
        for rejection in actions.rejections {
            check(deliveries[rejection.tag]?.isRefused == true, "\(rejection.tag) was rejected needlessly")
            end(rejection.tag)
        }
    }

    private mutating func end(_ tag: DeliveryTag) {
        guard let delivery = deliveries[tag] else { return }
        check(delivery.isChunk && delivery.isRead && delivery.pagesOut == 0, "\(tag) ended with a page left")
        check(delivery.endCount == 0, "\(tag) ended twice")
        deliveries[tag]?.endCount += 1
    }

    /// Whether something is still to happen.
    var isBusy: Bool {
        !bench.serving.isEmpty || !recording.isEmpty || !asked.isEmpty
            || deliveries.values.contains { $0.pagesOut > 0 }
    }
}
