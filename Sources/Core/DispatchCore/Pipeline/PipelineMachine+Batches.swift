import ChangeEvents
import Essentials
import Notifications
import RegistryCore

/// From deliveries to jobs: batches are decoded, asked for, and begun when the registry has answered.
extension PipelineMachine {
    /// Requests the next batches, unless enough are not answered or pushes wait for a free slot.
    mutating func askForBatches(at now: Moment) {
        guard pending.retryAt == nil, !dispatch.isSaturated(.interactive) else { return }
        for batch in intake.asked where !pending.contains({ $0 == .batch(batch.number) }) {
            ask(batch.number, askingAgain: true, at: now)
        }
        while let decoded = intake.decodeBatch(
            at: now, batchesMaximum: dispatch.limits.batchesAskedMaximum, with: &renderer, tracing: &spans)
        {
            endWithoutAudience(decoded)
            if let number = decoded.batchNumber { ask(number, askingAgain: false, at: now) }
        }
    }

    private mutating func ask(_ number: UInt64, askingAgain: Bool, at now: Moment) {
        var questions = intake.questions(of: number, mayBePlanned: arePlansPossible(at: now.monotonic))
        for index in questions.indices {
            questions[index].isRepeated = askingAgain
            questions[index].asksForRegistrations = areOutcomesWanted(of: questions[index].event)
        }
        let devicesPerPage = dispatch.limits.devicesPerPage(questionCount: questions.count)
        ask(.resolve(questions, devicesPerPage: devicesPerPage), .batch(number), at: now)
    }

    /// Ends the deliveries that need no audience.
    private mutating func endWithoutAudience(_ decoded: Intake.Decoded) {
        for delivery in decoded.withIgnoredHeaders { actions.notices.append(.headersIgnored(delivery)) }
        for (delivery, retryState) in decoded.misdirected {
            dispatch.bulkDeliveryInWorkQueue(
                delivery.tag, message: delivery.message, retryState: retryState, into: &actions.dispatch)
        }
        for (delivery, rejection) in decoded.skipped {
            actions.notices.append(.skipped(delivery.message, rejection))
            actions.dispatch.settles.append(delivery.tag)
        }
        for (delivery, retryState, rejection) in decoded.rejected { reject(delivery, retryState, rejection) }
        for event in decoded.expired {
            report(event, .expired)
            dispatch.eventExpired(event, tellingApps: apps(toTell: .expired, of: event), into: &actions.dispatch)
        }
    }

    /// The registry answered for a batch that was asked.
    mutating func batchAnswered(
        _ number: UInt64, _ result: Result<RegistryAnswer, RegistryError>, at now: Moment
    ) {
        switch result {
        case .success(.resolved(let audiences)):
            guard
                let batch = intake.answered(
                    number, audiences, devicesWanted: dispatch.limits.devicesPerBatchWanted)
            else { return }
            // The registry works on the next batch while the pushes of this one go out.
            askForBatches(at: now)
            for (group, audience) in zip(batch.groups, audiences) { serve(group, of: batch.events, audience, at: now) }
        case .failure(let error): registryFailed(error, at: now)
        default: assertionFailure("the registry answered something else than it was asked")
        }
    }

    private mutating func serve(
        _ group: DatasetCoalescer.Group, of events: [DecodedEvent], _ audience: AudienceResult, at now: Moment
    ) {
        let event = events[group.representative]
        let superseded = group.superseded.map { events[$0] }
        let excluded = superseded.isEmpty ? event.excludedDeviceID : group.excludedDeviceID
        switch audience {
        case .devices(let addressed):
            serveDevices(of: event, standingFor: superseded, excluding: excluded, addressed, at: now)
        case .subscribers(let page, let badges): beginSubscriberJob(event, page, badges: badges, at: now)
        case .large(let firstDevices, let known):
            plan(
                event, standingFor: superseded, excluding: excluded, firstDevices: firstDevices, known: known, at: now)
            // Nothing waits for a plan, which announces nothing.
            if let dataset = event.dataset { intake.ended(dataset) }
        case .chunkOver: preconditionFailure("a chunk comes by the fan-out queue")
        case .repeated(let remembered): endRepeated([event] + superseded, remembered)
        // The rest of the batch, which is asked again, has it.
        case .later: break
        }
    }

    private mutating func serveDevices(
        of event: DecodedEvent, standingFor superseded: [DecodedEvent], excluding excludedDeviceID: String?,
        _ addressed: AddressedPage, at now: Moment
    ) {
        do throws(EventRejection) {
            if let rejection = addressed.rejection {
                reportLeftOut(addressed, event)
                throw rejection
            }
            _ = try beginDeviceJob(
                event, standingFor: superseded, excluding: excludedDeviceID, addressed, known: event.renderings,
                at: now)
        } catch {
            reject(event, error)
            for event in superseded { reject(event.delivery, event.retryState, error) }
        }
    }

    // MARK: Jobs

    /// Begins the job of an event, or of a page of it, whose devices are all told the same.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - superseded: older changes of its dataset that it stands for.
    ///   - excludedDeviceID: the one device that made all of those changes.
    ///   - addressed: the devices.
    ///   - known: the renderings that exist already.
    ///   - now: the time.
    /// - Returns: the renderings for the apps of its devices, beside the known ones.
    /// - Throws: `EventRejection` if it cannot be rendered; then nothing was begun.
    mutating func beginDeviceJob(
        _ event: DecodedEvent, standingFor superseded: [DecodedEvent], excluding excludedDeviceID: String?,
        _ addressed: AddressedPage, known: [AppRendering], at now: Moment
    ) throws(EventRejection) -> [AppRendering] {
        let isChunk = event.retryState.chunk != nil
        let audience = addressed.page.devices
        let retryState = history(of: event, standingFor: superseded, excluding: excludedDeviceID)
        let announcement = event.announcement
        let told = announcement.map { intake.alreadyTold(among: audience, of: $0) } ?? []
        let devices = told.isEmpty ? audience : audience.filter { device in !told.contains(device) }
        let renderings = try renderer.render(
            event.event, expiresAt: retryState.expiresAt, devices: devices,
            known: isChunk || !devices.isEmpty ? known : [])
        reportLeftOut(addressed, event)
        let coalesced = countCoalesced(told, of: event, audience, superseded, at: now.wall)
        let unmatched = unmatchedPushes(of: event, addressed, at: now.wall)
        var tags: [DeliveryTag] = []
        if !isChunk {
            tags.append(event.delivery.tag)
            for event in superseded { tags.append(event.delivery.tag) }
        }
        spans?.devicesFound(event.delivery.tag, count: devices.count)
        let arrival = dispatch.jobArrived(
            DispatchJob(
                tags: tags, deliveryClass: event.delivery.deliveryClass, message: event.delivery.message,
                retryState: retryState,
                identity: PushIdentity(source: event.event.source, identifier: event.event.identifier), event: event,
                renderings: renderings, devices: devices, continuation: isChunk ? nil : addressed.page.next,
                chunk: isChunk ? event.delivery.tag : nil, changed: event.event.time,
                expiresImmediately: event.expiresImmediately, dataset: event.dataset, announcement: announcement,
                unsent: coalesced + unmatched, refused: refusedEntries(of: event)),
            into: &actions.dispatch)
        if !isChunk {
            let isSuperseded = devices.isEmpty && !audience.isEmpty
            report(
                event, isSuperseded ? .coalesced : fate(event, devices.count, arrival, now), renderings,
                deviceCount: audience.count)
        }
        return renderings
    }

    /// The wrong entries of the event's target, which become a dead letter; nil if there are none.
    private func refusedEntries(of event: DecodedEvent) -> RefusedEntries? {
        guard let targets = event.refusedTargets, case .push(let push) = event.event.kind else { return nil }
        return RefusedEntries(
            targets: targets, app: push.app, areTold: !apps(toTell: .deadLettered, of: event).isEmpty)
    }

    /// The history of an event that stands for others: it lives as long as the last of them.
    func history(
        of event: DecodedEvent, standingFor superseded: [DecodedEvent], excluding excludedDeviceID: String?
    ) -> RetryState {
        var retryState = event.retryState
        guard !superseded.isEmpty else { return retryState }
        if excludedDeviceID == nil { retryState.notifiesOrigin = true }
        for other in superseded {
            guard let current = retryState.expiresAt, let expiresAt = other.retryState.expiresAt else {
                retryState.expiresAt = nil
                break
            }
            retryState.expiresAt = max(current, expiresAt)
        }
        return retryState
    }

    /// Begins the job of a record event, or of a page of it, whose devices are told what their subscriptions say.
    mutating func beginSubscriberJob(
        _ event: DecodedEvent, _ page: SubscriberPage, badges: [ByteText: Int], at now: Moment
    ) {
        guard case .record(let change) = event.event.kind else {
            preconditionFailure("only the audience of a record is made of subscribers")
        }
        let isChunk = event.retryState.chunk != nil
        var assembly = SubscriberJob(change: change, digest: event.digest, expiresAt: event.retryState.expiresAt)
        var covered: [(device: Recipient, subscriptionID: String?)] = []
        for entry in page.entries {
            let subscription = page.subscriptions[entry.subscription]
            let isAdded =
                entry.coveredBy == nil
                && assembly.add(
                    entry.recipient, subscription,
                    badge: badges[ByteText(entry.recipient.deviceID)], renderer: &renderer)
            if !isAdded { covered.append((entry.recipient, subscription.key.subscriptionID)) }
        }
        let coalesced = coalesce(covered, of: event, at: now.wall)
        for (app, count) in assembly.reducedCounts.sorted(by: { $0.key < $1.key }) {
            actions.notices.append(.reduced(count, app: app))
        }
        spans?.devicesFound(event.delivery.tag, count: assembly.devices.count)
        let arrival = dispatch.jobArrived(
            DispatchJob(
                tags: isChunk ? [] : [event.delivery.tag], deliveryClass: event.delivery.deliveryClass,
                message: event.delivery.message,
                retryState: event.retryState,
                identity: PushIdentity(source: event.event.source, identifier: event.event.identifier), event: event,
                renderings: assembly.renderings, devices: assembly.devices, assignments: assembly.assignments,
                continuation: isChunk ? nil : page.next,
                chunk: isChunk ? event.delivery.tag : nil, changed: event.event.time,
                unsent: coalesced.map { [$0] } ?? []),
            into: &actions.dispatch)
        guard !isChunk else { return }
        report(
            event, fate(event, assembly.devices.count, arrival, now), assembly.renderings,
            deviceCount: assembly.devices.count)
    }

    private func fate(
        _ event: DecodedEvent, _ deviceCount: Int, _ arrival: JobArrival, _ now: Moment
    ) -> EventReport.Fate {
        guard deviceCount > 0 else { return .unmatched }
        if event.retryState.hasExpired(nowMilliseconds: now.wall.milliseconds) { return .expired }
        return switch arrival {
        case .taken: .matched
        case .deferred: .deferred
        case .ended: .expired
        }
    }

    /// Counts the pushes that are left out: to devices with a newer state, and of superseded events.
    ///
    /// - Returns: those that backends want to hear of.
    private mutating func countCoalesced(
        _ told: [Recipient], of newer: DecodedEvent, _ audience: [Recipient], _ superseded: [DecodedEvent],
        at now: WallTime
    ) -> [UnsentPushes] {
        var coalesced = coalesce(told.map { ($0, nil) }, of: newer, at: now).map { [$0] } ?? []
        for event in superseded {
            report(event, .coalesced)
            spans?.eventCoalesced(
                event.delivery.tag, trace: event.trace, into: newer.delivery.tag, at: dispatch.latest)
            let origin = event.excludedDeviceID
            let devices = audience.filter { !$0.deviceID.hasBytes(of: origin) }
            if let pushes = coalesce(devices.map { ($0, nil) }, of: event, at: now) { coalesced.append(pushes) }
        }
        return coalesced
    }

    /// Counts pushes of an event that are left out.
    ///
    /// - Returns: those that backends want to hear of; nil if there is none such.
    private mutating func coalesce(
        _ devices: [(device: Recipient, subscriptionID: String?)], of event: DecodedEvent, at now: WallTime
    ) -> UnsentPushes? {
        var pushes: [EndedPush] = []
        for (device, subscriptionID) in devices {
            let route = renderer.route(to: device)
            dispatch.pushesCoalesced(1, app: route?.index)
            guard let route, route.outcomes.contains(.coalesced) else { continue }
            pushes.append(
                EndedPush(
                    recipient: device, subscriptionID: subscriptionID, kind: .coalesced, reason: "", apnsID: nil,
                    sends: 0, ended: now))
        }
        return pushes.isEmpty ? nil : UnsentPushes(event: event, pushes: pushes)
    }

    // MARK: Reports

    mutating func report(
        _ event: DecodedEvent, _ fate: EventReport.Fate, _ renderings: [AppRendering] = [], deviceCount: Int = 0
    ) {
        actions.events.append(
            EventReport(event: event, fate: fate, renderings: renderings, deviceCount: deviceCount))
    }

    mutating func reportLeftOut(_ addressed: AddressedPage, _ event: DecodedEvent) {
        guard addressed.leftOutCount > 0 else { return }
        actions.notices.append(
            .leftOut(event, count: addressed.leftOutCount, isWhole: addressed.rejection != nil))
    }

    /// Turns a delivery into a dead letter.
    mutating func reject(_ delivery: Delivery, _ retryState: RetryState, _ rejection: EventRejection) {
        intake.forgo(delivery.tag)
        let outline =
            spans != nil || areOutcomesWanted ? intake.outline(of: delivery.message) : nil
        spans?.deliveryRejected(
            delivery, trace: outline?.trace, reason: rejection.reason.rawValue, at: dispatch.latest)
        actions.notices.append(.rejected(delivery.message, rejection))
        dispatch.deliveryRejected(
            [delivery.tag], message: delivery.message, retryState: retryState,
            event: outline.flatMap { OutcomeEvent($0, retryState) },
            tellingApps: apps(toTell: .deadLettered) { $0.name.hasBytes(of: outline?.app) },
            reason: rejection.reason.rawValue, detail: rejection.message, into: &actions.dispatch)
    }

    /// Turns an event or a chunk into a dead letter, after which the next event of its dataset may begin.
    mutating func reject(_ event: DecodedEvent, _ rejection: EventRejection) {
        intake.forgo(event.delivery.tag)
        spans?.deliveryEnded(
            event.delivery.tag, .rejected(reason: rejection.reason.rawValue), at: dispatch.latest)
        actions.notices.append(.rejected(event.delivery.message, rejection))
        let isChunk = event.retryState.chunk != nil
        dispatch.deliveryRejected(
            isChunk ? [] : [event.delivery.tag], message: event.delivery.message, retryState: event.retryState,
            dataset: event.dataset, chunk: isChunk ? event.delivery.tag : nil, event: OutcomeEvent(event),
            tellingApps: apps(toTell: .deadLettered, of: event), reason: rejection.reason.rawValue,
            detail: rejection.message, into: &actions.dispatch)
    }
}
