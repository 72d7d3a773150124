import Essentials
import EventLoop
import Metrics
import Notifications
import PushCore

/// Large audiences become chunks, which all workers serve.
///
/// The event's delivery is held until the broker has confirmed every chunk; all that a plan needs beside it is in the
/// registry, so a redelivery goes on where this worker ended. A plan takes one step in a turn of the loop, so that
/// other events need not wait for it.
extension Pipeline {
    /// Begins or finds the fan-out of an event whose audience is large.
    ///
    /// - Parameters:
    ///   - item: the event.
    ///   - isLarge: tells whether its audience has more devices than one worker is to serve.
    /// - Returns: nil if the audience is not large, or if the registry cannot keep fan-outs.
    /// - Throws: `RegistryError` if the registry does not answer.
    func largeFanOut(
        _ item: PreparedEvent, isLarge: () throws(RegistryError) -> Bool
    ) throws(RegistryError) -> FanOut? {
        guard item.mayBePlanned, isFanOutPossible, try isLarge() else { return nil }
        do throws(RegistryError) {
            return try parts.fanOuts.beginFanOut(
                fanOutEvent(item), planner: plannerIdentifier, nowMilliseconds: parts.now().wall.milliseconds)
        } catch {
            try fanOutsFailed(error)
            return nil
        }
    }

    /// Whether the registry can keep fan-outs, as far as is known.
    var isFanOutPossible: Bool { parts.now().monotonic >= fanOutsUnavailableUntil }

    /// The registry cannot keep fan-outs, so for a while none is begun; any other failure is thrown on.
    func fanOutsFailed(_ error: RegistryError) throws(RegistryError) {
        guard error.code == .readOnly else { throw error }
        fanOutsUnavailableUntil = parts.now().monotonic.advanced(byMilliseconds: Self.fanOutPauseMilliseconds)
        logger.log(
            .warning, "fanout.unavailable",
            [
                .field("message", error.message),
                .field("advice", "Large audiences are served page by page until the registry can be written."),
            ])
    }

    private func fanOutEvent(_ item: PreparedEvent) -> FanOutEvent {
        let app: String? =
            switch item.event.kind {
            case .push(let push): push.app
            case .record(let change): change.app
            case .dataset: nil
            }
        return FanOutEvent(
            digest: item.digest, source: item.event.source, identifier: item.event.identifier,
            type: item.type.rawValue, app: app)
    }

    /// Takes an event over whose audience is large: plans it, or settles it if that has been done.
    func begin(
        _ group: DatasetCoalescer.Group, _ fanOut: FanOut, firstDevices: [Recipient], _ prepared: [PreparedEvent]
    ) {
        let item = prepared[group.representative]
        let tags = [item.delivery.tag] + group.superseded.map { prepared[$0].delivery.tag }
        do throws(EventRejection) {
            // What cannot be rendered is told once, and not by each chunk.
            _ = try renderer.render(
                item.event, expiresAt: item.parking.expiresAt, devices: firstDevices)
        } catch {
            reject(item.delivery, item.parking, error)
            for place in group.superseded { reject(prepared[place].delivery, prepared[place].parking, error) }
            return
        }
        for place in group.superseded {
            metrics.countEvent(prepared[place].type, .coalesced)
            log(prepared[place], .coalesced)
        }
        var parking = item.parking
        if !group.superseded.isEmpty, group.excludedDeviceID == nil { parking.notifiesOrigin = true }
        let excluded = group.superseded.isEmpty ? item.excludedDeviceID : group.excludedDeviceID
        begin(item, fanOut, tags: tags, parking: parking, excludedDeviceID: excluded)
    }

    /// The same for an event whose deliveries, history and device to leave out are known.
    func begin(
        _ item: PreparedEvent, _ fanOut: FanOut, tags: [DeliveryTag], parking: ParkingRecord, excludedDeviceID: String?
    ) {
        metrics.countEvent(item.type, .dispatched)
        log(item, .matched, deviceCount: fanOut.devicesPlanned)
        guard fanOut.state == .planning else {
            metrics.fanOuts.found.add()
            logger.log(
                .info, "fanout.found",
                [
                    .field("fanout", Int(fanOut.number)), .field("source", fanOut.event.source),
                    .field("id", fanOut.event.identifier),
                    .field("state", fanOut.state.rawValue),
                ])
            return actions.settles.append(contentsOf: tags)
        }
        if let known = plans.values.first(where: { $0.event.digest == fanOut.event.digest }) {
            return known.tags.append(contentsOf: tags)
        }
        lastPlan += 1
        plans[lastPlan] = FanOutPlan(
            item: item, event: fanOut.event, parking: parking, excludedDeviceID: excludedDeviceID, tags: tags,
            planner: FanOutPlanner(fanOut, planner: plannerIdentifier))
        metrics.fanOuts.planning.set(plans.count)
        logger.log(
            .info, "fanout.planning",
            [
                .field("fanout", Int(fanOut.number)), .field("source", fanOut.event.source),
                .field("id", fanOut.event.identifier),
                .field("chunksPlanned", fanOut.chunksPlanned),
            ])
        continuePlan(lastPlan)
    }

    // MARK: Steps

    /// Takes the next step of a plan in a later turn of the loop.
    private func continuePlan(_ number: UInt64, afterNanoseconds delay: UInt64 = 0) {
        loop.schedule(afterNanoseconds: delay) { [self] in
            guard !isDraining, let plan = plans[number] else { return }
            do throws(RegistryError) {
                try takeStep(plan, number)
            } catch {
                planFailed(plan, error)
                continuePlan(number, afterNanoseconds: repeatDelayNanoseconds)
            }
        }
    }

    private func takeStep(_ plan: FanOutPlan, _ number: UInt64) throws(RegistryError) {
        let fanOut = plan.planner.fanOut.number
        switch plan.planner.step {
        case .ask: return ask(.begin(plan.event, planner: plannerIdentifier), plan, number)
        case .find(let after):
            try findChunk(plan, after: after)
        case .save(let chunks): return ask(.plan(chunks, of: fanOut, planner: plannerIdentifier), plan, number)
        case .read(let after, let limit): return ask(.read(of: fanOut, after: after, limit: limit), plan, number)
        case .publish(let chunks):
            publish(chunks, plan, number)
        case .record(let through):
            return ask(.published(through: through, of: fanOut, planner: plannerIdentifier), plan, number)
        case .waitForConfirms:
            return
        case .waitForOther:
            plan.planner.asked()
            return continuePlan(number, afterNanoseconds: repeatDelayNanoseconds)
        case .finish:
            return finish(plan, number)
        }
        continuePlan(number)
    }

    /// Asks the registry for what the next step needs; other events go on meanwhile.
    private func ask(_ call: FanOutCall, _ plan: FanOutPlan, _ number: UInt64) {
        ask(call) { [self] result in
            switch (call, result) {
            case (_, .failure(let error)):
                planFailed(plan, error)
                return continuePlan(number, afterNanoseconds: repeatDelayNanoseconds)
            case (.plan, .success(.fanOut(let fanOut))): plan.planner.planSaved(fanOut)
            case (_, .success(.fanOut(let fanOut))): plan.planner.fanOutRead(fanOut)
            case (_, .success(.chunks(let chunks))): plan.planner.unpublishedRead(chunks)
            case (_, .success(.done)): break
            }
            continuePlan(number)
        }
    }

    private func findChunk(_ plan: FanOutPlan, after: AudienceCursor?) throws(RegistryError) {
        let fanOut = plan.planner.fanOut
        let limit = limits.devicesPerChunkMaximum
        guard plan.item.isAboutRecord else {
            guard let audience = plan.item.audience else { return }
            let extent = try parts.registry.measure(audience, after: after, limit: limit)
            return plan.planner.chunkFound(
                through: extent.next, subscriptions: [], deviceCount: extent.deviceCount)
        }
        let rows = try subscriptions(plan).filter { $0 <= fanOut.newestSubscription }
        let request = SubscriberRequest(
            subscriptions: rows, excludedDeviceID: plan.excludedDeviceID, cursor: after.map { SubscriberCursor($0) },
            asOfFanOut: fanOut.number)
        let page = try parts.subscriptions.resolveSubscribers([request], limit: limit)[0]
        plan.planner.chunkFound(
            through: page.next.map { AudienceCursor($0) }, subscriptions: FanOutChunk.subscriptions(of: page),
            deviceCount: page.entries.count)
    }

    /// The subscriptions that hear of the change; they stay the same for the whole plan.
    private func subscriptions(_ plan: FanOutPlan) throws(RegistryError) -> [Int64] {
        if let known = plan.subscriptions { return known }
        try follower.catchUp()
        reportIndex()
        let rows = try matchingSubscriptions([plan.item]).first ?? []
        plan.subscriptions = rows
        return rows
    }

    private func publish(_ chunks: [FanOutChunk], _ plan: FanOutPlan, _ number: UInt64) {
        plan.planner.published()
        for chunk in chunks {
            machine.chunkPlanned(
                FanOutChunkJob(fanOut: plan.planner.fanOut.number, chunk: chunk), of: number,
                message: plan.item.delivery.message, parking: plan.parking, into: &actions)
        }
        scheduleFlush()
    }

    /// The broker has confirmed chunks.
    func chunksConfirmed(_ numbers: [UInt64]) {
        for number in numbers {
            guard let plan = plans[number] else { continue }
            plan.planner.chunkConfirmed()
            metrics.fanOuts.chunksPlanned.add()
            if plan.planner.step != .waitForConfirms { continuePlan(number) }
        }
    }

    /// The broker will never take a chunk of these plans, so their events become dead letters.
    ///
    /// What the registry has of a plan stays, so a replay goes on with it.
    func plansRejected(_ details: [UInt64: String]) {
        for (number, detail) in details {
            guard let plan = plans.removeValue(forKey: number) else { continue }
            metrics.fanOuts.planning.set(plans.count)
            actions.rejections.append(
                .init(tags: plan.tags, message: plan.item.delivery.message, detail: detail))
        }
    }

    private func planFailed(_ plan: FanOutPlan, _ error: RegistryError) {
        metrics.registryFailures.add()
        if error.code == .notFound { plan.planner.fanOutLost() }
        logger.log(
            error.code == .unavailable ? .warning : .error, "fanout.planning.failed",
            [
                .field("fanout", Int(plan.planner.fanOut.number)), .field("source", plan.event.source),
                .field("id", plan.event.identifier), .field("code", error.code.rawValue),
                .field("message", error.message),
            ])
    }

    private func finish(_ plan: FanOutPlan, _ number: UInt64) {
        plans[number] = nil
        metrics.fanOuts.planning.set(plans.count)
        metrics.fanOuts.planned.add()
        actions.settles.append(contentsOf: plan.tags)
        let fanOut = plan.planner.fanOut
        logger.log(
            .info, "fanout.planned",
            [
                .field("fanout", Int(fanOut.number)), .field("source", fanOut.event.source),
                .field("id", fanOut.event.identifier),
                .field("state", fanOut.state.rawValue), .field("chunks", fanOut.chunksPlanned),
                .field("devices", fanOut.devicesPlanned),
            ])
        scheduleFlush()
    }
}
