import ChangeEvents
public import DispatchCore
import Notifications
public import RegistryCore
public import StructuredLogging

/// A registry with all ports that a pipeline needs.
public typealias PipelineRegistry = EventMemoryRegistry & FanOutRegistry & OutcomeHistoryRegistry
    & OutcomeOutboxRegistry & PauseRegistry & Registry & SubscriptionRegistry & WorkerReportRegistry

/// Answers the requests of a `PipelineMachine` with calls of a registry: one look-up for a whole batch of events.
///
/// It lives on the registry's loop, with the index of subscriptions. A call may take as long as the registry does.
public final class RegistryResponder {
    let registry: any PipelineRegistry
    let follower: SubscriptionIndexUpdater
    let memory: any EventMemoryFollower
    let limits: DispatchLimits
    let logger: Logger
    let metrics: RegistryMetrics
    let nowMilliseconds: () -> Int64
    /// Whether events leave traces in the registry; not if they are only looked at.
    let writes: Bool
    private var recorded = RecordedDatasets()
    /// When old outcomes are forgotten next, in milliseconds since 1970.
    var forgetsOutcomesAtMilliseconds: Int64 = 0
    /// When old events are forgotten next, in milliseconds since 1970.
    var forgetsEventsAtMilliseconds: Int64 = 0

    /// Creates a responder.
    ///
    /// - Parameters:
    ///   - registry: the registry, which no other client uses.
    ///   - limits: the sizes of pages and chunks.
    ///   - logger: takes what an operator should know of the registry.
    ///   - metrics: the instruments of the index.
    ///   - memory: knows which events the registry remembers; one for all responders of a process. Nil for one that
    ///     no other responder has.
    ///   - writes: whether events claim subscriptions, count in badges, and make datasets known.
    ///   - nowMilliseconds: reads the wall clock.
    public init(
        registry: any PipelineRegistry, limits: DispatchLimits, logger: Logger, metrics: RegistryMetrics,
        memory: (any EventMemoryFollower)? = nil, writes: Bool = true, nowMilliseconds: @escaping () -> Int64
    ) {
        self.registry = registry
        self.limits = limits
        self.logger = logger
        self.metrics = metrics
        self.writes = writes
        self.memory = memory ?? SharedEventMemory(limits)
        self.nowMilliseconds = nowMilliseconds
        follower = SubscriptionIndexUpdater(registry: registry) { metrics.indexChanged($0) }
    }

    /// Answers a request.
    ///
    /// - Returns: the answer of the kind that the request asks for.
    /// - Throws: `RegistryError` if the registry does not answer.
    public func answer(_ request: RegistryRequest) throws(RegistryError) -> RegistryAnswer {
        switch request {
        case .readPauses:
            let pauses = try registry.pauses()
            // This request comes every two seconds. So a look-up after a long pause has few blocks to read.
            if remembersEvents { _ = try memory.step(registry, atMilliseconds: nowMilliseconds()) }
            return .pausesRead(pauses)
        case .readSubscriptions:
            // Before a worker consumes, it reads what the registry remembers as well.
            var areEventsRead = true
            if remembersEvents { areEventsRead = try memory.step(registry, atMilliseconds: nowMilliseconds()) }
            return .subscriptionsRead(areAll: try follower.step() && areEventsRead, follower.size)
        case .resolve(let questions, let limit):
            var audiences = try resolve(questions, devicesPerPage: limit)
            try addRegistrations(to: &audiences, questions)
            return .resolved(audiences)
        case .findChunk(let search): return .chunkFound(try findChunk(search))
        case .fanOut(let request):
            return .fanOut(try request.perform(on: registry, nowMilliseconds: nowMilliseconds()))
        case .prune(let tokens): return .pruned(try registry.prune(tokens))
        case .addWaitingOutcomes(let outcomes):
            try registry.addWaitingOutcomes(outcomes)
            return .outcomesKept
        case .takeWaitingOutcomes(let limit):
            return .waitingOutcomes(
                try registry.takeWaitingOutcomes(limit: limit, atMilliseconds: nowMilliseconds()))
        case .removeWaitingOutcomes(let numbers):
            try registry.removeWaitingOutcomes(numbers)
            return .outcomesKept
        case .keepOutcomes(let outcomes):
            try keep(outcomes)
            return .outcomesKept
        case .remember(let events): return .remembered(forgottenEarly: try remember(events))
        }
    }

    // MARK: Audiences

    /// Finds the audiences of events, or the pages that are asked for.
    ///
    /// - Parameters:
    ///   - questions: the questions to answer.
    ///   - limit: the most devices for each.
    /// - Returns: an audience for each question.
    /// - Throws: `RegistryError` if the registry does not answer. Then no fan-out is begun, and the same events claim
    ///   their subscriptions again.
    func resolve(_ questions: [AudienceQuestion], devicesPerPage limit: Int) throws(RegistryError) -> [AudienceResult] {
        let decided = try decideWithoutAudience(questions)
        guard !decided.isEmpty else { return try resolveOpen(questions, limit) }
        let open = questions.indices.filter { decided[$0] == nil }
        var rest = try resolveOpen(open.map { questions[$0] }, limit)[...]
        return questions.indices.compactMap { decided[$0] ?? rest.popFirst() }
    }

    private func resolveOpen(_ questions: [AudienceQuestion], _ limit: Int) throws(RegistryError) -> [AudienceResult] {
        let others = questions.filter { !$0.event.isAboutRecord }
        let requests = others.compactMap(request)
        var pages = requests.isEmpty ? [] : try registry.resolve(requests, limit: limit)
        try recordDatasets(of: others, pages)
        let (areLarge, areLater) = try complete(&pages, of: others, requests, limit)
        var addressed = try address(pages, others).enumerated().makeIterator()
        var subscribers = try resolveSubscribers(questions.filter(\.event.isAboutRecord), limit)[...]
        var audiences: [AudienceResult] = []
        audiences.reserveCapacity(questions.count)
        for question in questions {
            if question.event.isAboutRecord {
                if let audience = subscribers.popFirst() { audiences.append(audience) }
                continue
            }
            guard let (index, page) = addressed.next() else { preconditionFailure("a page for each question") }
            if areLarge.contains(index) {
                audiences.append(.large(firstDevices: pages[index].devices, known: nil))
            } else {
                audiences.append(areLater.contains(index) ? .later : .devices(page))
            }
        }
        return audiences
    }

    /// Finds the further devices of audiences that this worker is to serve alone, as far as the batch has room.
    ///
    /// - Parameters:
    ///   - pages: the first devices of the audiences; receives the further ones, and loses those that are for later.
    ///   - questions: the questions of the pages.
    ///   - requests: the requests of the pages.
    ///   - limit: the most devices of a page.
    /// - Returns: the indices of the audiences that have more devices than one worker is to serve, and of those that
    ///   the batch has no room for.
    /// - Throws: `RegistryError` if the registry does not answer.
    private func complete(
        _ pages: inout [AudiencePage], of questions: [AudienceQuestion], _ requests: [AudienceRequest], _ limit: Int
    ) throws(RegistryError) -> (areLarge: Set<Int>, areLater: Set<Int>) {
        let open = pages.indices.filter {
            pages[$0].next != nil && questions[$0].event.delivery.deliveryClass == .interactive
        }
        guard !open.isEmpty else { return ([], []) }
        var room = AudienceRoom(limits)
        for page in pages where page.next == nil { room.take(page.devices.count) }
        let fitting = open.filter { _ in room.takeWhole() }
        let areLater = Set(open).subtracting(fitting)
        for index in areLater { pages[index].devices = [] }
        try extend(&pages, fitting, requests, by: limits.devicesPerAudienceMaximum - limit)
        var areLarge: Set<Int> = []
        for index in fitting where pages[index].next != nil && questions[index].mayBePlanned {
            if try isLarge(requests[index]) { areLarge.insert(index) }
        }
        return (areLarge, areLater)
    }

    /// Looks up further devices of pages.
    private func extend(
        _ pages: inout [AudiencePage], _ indices: [Int], _ requests: [AudienceRequest], by count: Int
    ) throws(RegistryError) {
        guard count > 0 else { return }
        let further = indices.map { index in
            var request = requests[index]
            request.cursor = pages[index].next
            return request
        }
        for (index, found) in zip(indices, try registry.resolve(further, limit: count)) {
            pages[index].devices += found.devices
            pages[index].next = found.next
        }
    }

    /// Whether an audience that has more devices than a batch takes of one is too large for one worker.
    private func isLarge(_ request: AudienceRequest) throws(RegistryError) -> Bool {
        if limits.devicesPerAudienceMaximum == limits.fanOutThresholdDevices { return true }
        return try registry.measure(request.audience, after: request.cursor, limit: limits.fanOutThresholdDevices)
            .next != nil
    }

    /// Decisions without a look-up of an audience, by the index of the question: events that come again, chunks that
    /// are over, and redelivered events that have a fan-out.
    private func decideWithoutAudience(
        _ questions: [AudienceQuestion]
    ) throws(RegistryError) -> [Int: AudienceResult] {
        var decided = try repeatedEvents(among: questions)
        let chunks = questions.indices.filter { questions[$0].event.chunkKey != nil }
        let redelivered = questions.indices.filter {
            questions[$0].event.delivery.isRedelivered && questions[$0].mayBePlanned && decided[$0] == nil
        }
        guard !chunks.isEmpty || !redelivered.isEmpty else { return decided }
        do throws(RegistryError) {
            if !chunks.isEmpty {
                let states = try registry.chunkStates(chunks.compactMap { questions[$0].event.chunkKey })
                for (index, state) in zip(chunks, states) where state != .waiting { decided[index] = .chunkOver(state) }
            }
            if !redelivered.isEmpty {
                let known = try registry.fanOuts(of: redelivered.map { questions[$0].event.digest })
                for index in redelivered {
                    guard let fanOut = known.first(where: { $0.event.digest == questions[index].event.digest }) else {
                        continue
                    }
                    decided[index] = .large(firstDevices: [], known: fanOut)
                }
            }
        } catch {
            // An unknown chunk is served: a duplicate is better than a loss.
            guard error.code == .readOnly else { throw error }
        }
        return decided
    }

    /// Makes datasets known that have no subscriber by name, as far as the pages tell.
    private func recordDatasets(of questions: [AudienceQuestion], _ pages: [AudiencePage]) throws(RegistryError) {
        var unknown: [DatasetKey] = []
        for (question, page) in zip(questions, pages)
        where !page.isOfKnownDataset && question.event.type != .datasetDeleted {
            guard let dataset = question.event.dataset, !recorded.contains(dataset) else { continue }
            unknown.append(dataset)
        }
        guard writes, !unknown.isEmpty else { return }
        do throws(RegistryError) {
            try registry.recordDatasets(unknown)
            recorded.insert(unknown)
        } catch {
            // A registry that this worker may only read can serve pushes; only `subscribe-all` knows less.
            guard error.code == .readOnly else { throw error }
            logger.log(.warning, "registry.read-only", [.field("message", error.message)])
            recorded.insert(unknown)
        }
    }

    /// The request to the registry; nil for a record, whose subscribers are found by its fields.
    private func request(_ question: AudienceQuestion) -> AudienceRequest? {
        let retryState = question.event.retryState
        guard let audience = question.event.audience else { return nil }
        return AudienceRequest(
            audience: audience, excludedDeviceID: question.excludedDeviceID, onlyDeviceIDs: retryState.deviceIDs,
            cursor: question.cursor, through: retryState.chunk?.chunk.through, asOfFanOut: retryState.chunk?.fanOut)
    }

    // MARK: Chunks

    /// Finds where the next chunk of a large fan-out ends.
    private func findChunk(_ search: FanOutChunkSearch) throws(RegistryError) -> FanOutChunkExtent {
        let rows: [Int64]
        switch search.audience {
        case .devices(let audience):
            return FanOutChunkExtent(try registry.measure(audience, after: search.after, limit: search.limit))
        case .record(let change, let mayHaveClaims):
            rows = try matchingSubscriptions([change], claimedBy: { _ in mayHaveClaims ? search.event : nil })[0]
        case .subscriptions(let known): rows = known
        }
        let request = search.subscriberRequest(matching: rows)
        return FanOutChunkExtent(
            try registry.resolveSubscribers([request], limit: search.limit)[0], matching: rows)
    }
}

/// The room of a batch for the devices of audiences that are looked up completely.
struct AudienceRoom {
    /// The most devices of an audience.
    private let whole: Int
    private var devices: Int
    private var isUntouched = true

    init(_ limits: DispatchLimits) {
        whole = limits.devicesPerAudienceMaximum
        devices = limits.devicesPerBatchWanted
    }

    /// Takes room for devices that were found.
    mutating func take(_ count: Int) { devices -= count }

    /// Takes room for an audience of unknown size.
    ///
    /// - Returns: whether there was room; the first audience always gets it, so that each batch serves one.
    mutating func takeWhole() -> Bool {
        guard isUntouched || devices >= whole else { return false }
        isUntouched = false
        devices -= whole
        return true
    }
}
