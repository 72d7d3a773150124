import ChangeEvents
import Essentials
import Notifications
import RegistryCore

/// Between `FanOutServing` and the others: pages are asked of the registry, begun as jobs, and ended.
extension PipelineMachine {
    /// The event of a bulk delivery.
    struct Page {
        let event: DecodedEvent
        /// The content for the apps of its pages so far; empty for a record, whose subscriptions have the content.
        var renderings: [AppRendering]
    }

    /// The broker handed out a bulk delivery.
    mutating func pageReceived(_ delivery: Delivery, at now: Moment) {
        let retryState = RetryState(of: delivery, nowMilliseconds: now.wall.milliseconds)
        if retryState.ignoresHeaders { actions.notices.append(.headersIgnored(delivery)) }
        do throws(EventRejection) {
            let event = try intake.decode(delivery, retryState, with: &renderer, tracing: &spans, at: now)
            let served = served(event)
            if isPaused(served.flow), deferDelivery(of: event, .paused, at: now) { return }
            pages[delivery.tag] = Page(event: event, renderings: event.renderings)
            serving.arrived(served)
        } catch {
            reject(delivery, retryState, error)
        }
    }

    private func served(_ event: DecodedEvent) -> FanOutDelivery {
        let name = event.flowName
        return FanOutDelivery(
            tag: event.delivery.tag, key: event.chunkKey,
            flow: FanOutFlow(name: name, apps: renderer.routeIndices(ofFlow: name)), cursor: event.retryState.cursor)
    }

    /// Whether all apps of a flow are paused, so that none of its pushes would go out.
    private func isPaused(_ flow: FanOutFlow) -> Bool {
        !flow.apps.isEmpty && flow.apps.allSatisfy { dispatch.health.isPaused(app: $0) }
    }

    /// Puts a delivery that has not begun into a retry queue.
    ///
    /// - Returns: false if its attempts are spent, and it has to be served now.
    private mutating func deferDelivery(
        of event: DecodedEvent, _ cause: Disposition.RetryCause, at now: Moment
    ) -> Bool {
        let isDeferred = dispatch.deferDelivery(
            event.delivery.tag, message: event.delivery.message, retryState: event.retryState, cause, at: now,
            into: &actions.dispatch)
        if isDeferred { serves.counts.chunksDelayed += 1 }
        return isDeferred
    }

    // MARK: Round robin

    /// Asks for the next pages of bulk deliveries, as far as their apps have room.
    mutating func askForPages(at now: Moment) {
        deferHangingFanOuts(at: now)
        while let flow = serving.nextFlow(at: now.monotonic, mayServe: mayServe),
            let request = serving.takeNextPage(of: flow), let page = pages[request.tag]
        {
            if let dataset = page.event.dataset { intake.begins(dataset) }
            var question = AudienceQuestion(
                event: page.event, excludedDeviceID: page.event.excludedDeviceID, cursor: request.cursor,
                mayBePlanned: page.event.mayBePlanned && page.event.refusedTargets == nil
                    && arePlansPossible(at: now.monotonic))
            question.asksForRegistrations = areOutcomesWanted(of: page.event)
            ask(
                .resolve([question], devicesPerPage: dispatch.limits.devicesPerBulkPageMaximum), .page(request.tag),
                at: now)
        }
    }

    /// Whether a page may be asked for: few devices of its apps wait to be sent to, and its dataset has no event under
    /// way.
    private func mayServe(_ delivery: FanOutDelivery) -> Bool {
        if let dataset = pages[delivery.tag]?.event.dataset, intake.isUnderWay(dataset) { return false }
        guard !delivery.flow.apps.isEmpty else { return !dispatch.isSaturated(.bulk) }
        return !delivery.flow.apps.contains { dispatch.hasBulkBacklog(app: $0) }
    }

    /// Puts the deliveries that have not begun of flows that hang into a retry queue.
    private mutating func deferHangingFanOuts(at now: Moment) {
        let hanging = serving.flowsOut.filter { flow, since in
            dispatch.health.isHanging(apps: flow.apps, outSince: since, at: now.monotonic)
        }
        for delivery in serving.flowsHang(hanging.map(\.flow), at: now.monotonic, into: &serves) {
            guard let event = pages[delivery.tag]?.event else { preconditionFailure("each delivery has its event") }
            if deferDelivery(of: event, .congested, at: now) {
                pages[delivery.tag] = nil
            } else {
                serving.arrived(delivery)
            }
        }
    }

    // MARK: Pages

    /// The registry answered for a page.
    mutating func pageAnswered(
        _ tag: DeliveryTag, _ result: Result<RegistryAnswer, RegistryError>, at now: Moment
    ) {
        guard let page = pages[tag], serving.isAsked(tag) else {
            return assertionFailure("a page that is not wanted any more is awaited no more")
        }
        switch result {
        case .success(.resolved(let audiences)):
            guard audiences.count == 1 else { return assertionFailure("one page was asked for") }
            serve(page, audiences[0], at: now)
        case .failure(let error):
            pending.lookUpFailed(error, waits: false, at: now.monotonic, into: &actions.notices)
            serving.pageFailed(tag, at: now.monotonic)
            if let dataset = page.event.dataset { intake.ended(dataset) }
        default: assertionFailure("the registry answered something else than it was asked")
        }
    }

    private mutating func serve(_ page: Page, _ audience: AudienceResult, at now: Moment) {
        let event = page.event
        let tag = event.delivery.tag
        switch audience {
        case .devices(let addressed): serveDevices(of: page, addressed, at: now)
        case .subscribers(let subscribers, let badges):
            beginSubscriberJob(event, subscribers, badges: badges, at: now)
            serving.pageResolved(tag, next: subscribers.next, at: now.monotonic, into: &serves)
        case .chunkOver(let state):
            serving.chunkIsOver(tag, state, into: &serves)
            if let dataset = event.dataset { intake.ended(dataset) }
        case .large(let firstDevices, let known):
            // A whole event that somebody published to the fan-out queue.
            plan(
                event, standingFor: [], excluding: event.excludedDeviceID, firstDevices: firstDevices, known: known,
                at: now)
            serving.pageResolved(tag, next: nil, at: now.monotonic, into: &serves)
            if let dataset = event.dataset { intake.ended(dataset) }
        case .repeated: preconditionFailure("only events of the work queues are looked up in the memory")
        case .later: preconditionFailure("one page always has room")
        }
    }

    private mutating func serveDevices(of page: Page, _ addressed: AddressedPage, at now: Moment) {
        let event = page.event
        let tag = event.delivery.tag
        do throws(EventRejection) {
            if let rejection = addressed.rejection {
                reportLeftOut(addressed, event)
                throw rejection
            }
            let renderings = try beginDeviceJob(
                event, standingFor: [], excluding: nil, addressed, known: page.renderings, at: now)
            pages[tag]?.renderings = renderings
            serving.pageResolved(tag, next: addressed.page.next, at: now.monotonic, into: &serves)
        } catch {
            reject(event, error)
            serving.pageRejected(tag, at: now.monotonic, into: &serves)
        }
    }

    // MARK: Endings

    /// Pages and chunks have ended, and endings can be recorded.
    mutating func pagesEnded(at now: Moment) {
        for tag in actions.dispatch.chunkPagesEnded {
            serving.pageEnded(tag, refusal: actions.dispatch.chunksRejected[tag], into: &serves)
        }
        actions.dispatch.chunkPagesEnded.removeAll(keepingCapacity: true)
        actions.dispatch.chunksRejected.removeAll(keepingCapacity: true)
        serving.tick(at: now.monotonic, into: &serves)
        takeOverPages(at: now)
    }

    /// The registry answered to endings.
    mutating func endingsAnswered(_ result: Result<RegistryAnswer, RegistryError>, at now: Moment) {
        switch result {
        case .success: serving.endingsRecorded(into: &serves)
        case .failure(let error): serving.endingsNotRecorded(error, at: now.monotonic, into: &serves)
        }
        takeOverPages(at: now)
    }

    /// Takes over the decisions of the serving.
    mutating func takeOverPages(at now: Moment) {
        guard !serves.isEmpty else { return }
        if !serves.endingsToRecord.isEmpty {
            ask(.fanOut(.ended(serves.endingsToRecord)), .endings, at: now)
        }
        actions.dispatch.settles += serves.settles
        for rejection in serves.rejections {
            guard let event = pages[rejection.tag]?.event else { preconditionFailure("each delivery has its event") }
            actions.dispatch.rejections.append(
                .init(tags: [rejection.tag], message: event.delivery.message, detail: rejection.detail))
        }
        for tag in serves.pagesAbandoned {
            pending.abandon { $0 == .page(tag) }
            if let dataset = pages[tag]?.event.dataset { intake.ended(dataset) }
        }
        for tag in serves.released { pages[tag] = nil }
        actions.notices += serves.notices.map { .serving($0) }
        if serves.counts != FanOutServing.Counts() { actions.notices.append(.served(serves.counts)) }
        serves.removeAll()
    }
}
