import Essentials
import EventLoop
import Metrics
import Notifications
import PushCore

extension Pipeline {
    /// Takes in a batch of deliveries: from bytes to jobs of the state machine.
    ///
    /// If the registry does not answer, the whole batch waits, unacknowledged, and is taken in again.
    func takeIn(_ batch: [Delivery]) {
        let now = parts.now().wall.milliseconds
        var prepared: [PreparedEvent] = []
        var rejected: [(delivery: Delivery, parking: ParkingRecord, rejection: EventRejection)] = []
        var returned: [(delivery: Delivery, parking: ParkingRecord)] = []
        var expired: [PreparedEvent] = []
        prepared.reserveCapacity(batch.count)
        for delivery in batch {
            if let begun = chunks[delivery.tag] {
                prepared.append(begun.item)
                continue
            }
            var parking = ParkingRecord(of: delivery, nowMilliseconds: now)
            if parking.ignoresHeaders { reportIgnoredHeaders(of: delivery) }
            if delivery.lane == .work, parking.isOfFanOutLane {
                returned.append((delivery, parking))
                continue
            }
            do throws(EventRejection) {
                let event = try decoder.decode(delivery.message)
                parking.limitLife(to: event)
                let renderings = try renderer.validate(event, expiresAt: parking.expiresAt)
                let item = PreparedEvent(delivery: delivery, parking: parking, event: event, renderings: renderings)
                if item.isFresh, parking.hasExpired(nowMilliseconds: now) {
                    expired.append(item)
                } else {
                    prepared.append(item)
                }
            } catch {
                rejected.append((delivery, parking, error))
            }
        }
        let delayed = takeTurns(&prepared)
        for item in prepared { forgetCounts(item) }
        let groups = coalesce(prepared)
        guard let audiences = resolve(groups, prepared) else {
            return putBack(batch)
        }
        if batch.first?.lane == .work { adaptBatchSize(devicesFound: audiences.reduce(0) { $0 + $1.count }) }
        for (delivery, parking) in returned {
            machine.deliveryOfFanOutLane(delivery.tag, message: delivery.message, parking: parking, into: &actions)
        }
        for rejection in rejected { reject(rejection.delivery, rejection.parking, rejection.rejection) }
        for item in expired { expire(item) }
        for (group, audience) in zip(groups, audiences) {
            switch audience {
            case .devices(let addressed): begin(group, addressed, prepared)
            case .subscribers(let page, let badges): begin(prepared[group.representative], page, badges: badges)
            case .large(let fanOut, let devices): begin(group, fanOut, firstDevices: devices, prepared)
            case .chunkOver(let state): chunkIsOver(prepared[group.representative], state)
            }
        }
        // What was before them may be over already: a large fan-out, for example, becomes a plan, which announces
        // nothing, so nothing waits for it.
        putBack(delayed.compactMap { delivery, key in turns.wait(delivery, for: key) ? nil : delivery })
    }

    private func putBack(_ batch: [Delivery]) {
        guard let first = batch.first else { return }
        guard first.lane == .fanout else { return waiting.putBack(batch) }
        for delivery in batch.reversed() { waitingFanOuts.putInFront(delivery, flow: fanOutFlow(of: delivery)) }
    }

    /// Takes out the events whose dataset has another event under way, or before them in this batch, unless both are
    /// fresh changes, which coalesce.
    private func takeTurns(_ prepared: inout [PreparedEvent]) -> [(delivery: Delivery, key: DatasetKey)] {
        var delayed: [(delivery: Delivery, key: DatasetKey)] = []
        var coalescesInBatch: [DatasetKey: Bool] = [:]
        prepared.removeAll { item in
            guard let dataset = item.dataset else { return false }
            let coalesces = item.isFresh && item.type == .datasetChanged
            let known = coalescesInBatch[dataset]
            let hasTurn = known.map { $0 && coalesces } ?? !turns.isBusy(dataset)
            if !hasTurn { delayed.append((item.delivery, dataset)) }
            if !hasTurn || known == nil { coalescesInBatch[dataset] = hasTurn && coalesces }
            return !hasTurn
        }
        return delayed
    }

    /// Notes what devices have been told, so that they are told of nothing older after it.
    func noteTold() {
        for (deviceID, announcement) in actions.told { recent.told(deviceID, of: announcement) }
        actions.told.removeAll(keepingCapacity: true)
    }

    /// Counts begin anew after a deletion, whatever becomes of its event.
    private func forgetCounts(_ item: PreparedEvent) {
        guard item.isFresh, case .dataset(let change) = item.event.kind, change.operation != .changed else { return }
        recent.forget(change.key, at: parts.now().wall)
    }

    private func adaptBatchSize(devicesFound: Int) {
        batchSize =
            devicesFound > Self.devicesPerBatchWanted ? max(4, batchSize / 4) : min(Self.batchMaximum, batchSize * 2)
    }

    private func coalesce(_ prepared: [PreparedEvent]) -> [DatasetCoalescer.Group] {
        var coalescer = DatasetCoalescer()
        for (place, item) in prepared.enumerated() {
            if case .dataset(let change) = item.event.kind, item.isFresh {
                coalescer.add(change, at: place)
            } else {
                coalescer.addAlone(at: place)
            }
        }
        return coalescer.result
    }

    // MARK: The audience

    private func resolve(
        _ groups: [DatasetCoalescer.Group], _ prepared: [PreparedEvent]
    ) -> [ResolvedAudience]? {
        do throws(RegistryError) {
            try recordDatasets(prepared)
            let decided = try decideWithoutAudience(groups, prepared)
            let open = decided.isEmpty ? groups : groups.filter { decided[$0.representative] == nil }
            let audiences = try resolveOpen(open, prepared)
            health.set(.registry, nil)
            guard !decided.isEmpty else { return audiences }
            var rest = audiences[...]
            return groups.compactMap { decided[$0.representative] ?? rest.popFirst() }
        } catch {
            registryFailed(error)
            return nil
        }
    }

    private func resolveOpen(
        _ groups: [DatasetCoalescer.Group], _ prepared: [PreparedEvent]
    ) throws(RegistryError) -> [ResolvedAudience] {
        let requests = groups.compactMap { request($0, prepared[$0.representative]) }
        let items = groups.map { prepared[$0.representative] }
        let records = items.filter(\.isAboutRecord)
        let pages = requests.isEmpty ? [] : try parts.registry.resolve(requests, limit: limits.devicesPerPageMaximum)
        let addressed = try address(pages, items.filter { !$0.isAboutRecord })
        var subscribers = try resolveSubscribers(records)[...]
        var audiences: [ResolvedAudience] = []
        audiences.reserveCapacity(groups.count)
        var place = 0
        for group in groups {
            let item = prepared[group.representative]
            if item.isAboutRecord {
                if let audience = subscribers.popFirst() { audiences.append(audience) }
                continue
            }
            audiences.append(.devices(addressed[place]))
            if addressed[place].page.next != nil, let fanOut = try largeFanOut(item, asked: requests[place]) {
                audiences[audiences.count - 1] = .large(fanOut, firstDevices: pages[place].devices)
            }
            place += 1
        }
        return audiences
    }

    private func largeFanOut(
        _ item: PreparedEvent, asked request: AudienceRequest
    ) throws(RegistryError) -> FanOut? {
        try largeFanOut(item) { () throws(RegistryError) in
            try parts.registry.measure(
                request.audience, after: request.cursor, limit: limits.fanOutThresholdDevices
            ).next != nil
        }
    }

    /// What needs no look-up of an audience: chunks that are over, and redelivered events that have a fan-out.
    private func decideWithoutAudience(
        _ groups: [DatasetCoalescer.Group], _ prepared: [PreparedEvent]
    ) throws(RegistryError) -> [Int: ResolvedAudience] {
        var decided = try chunksOver(prepared).mapValues { ResolvedAudience.chunkOver($0) }
        var redelivered: [EventDigest: Int] = [:]
        for group in groups {
            let item = prepared[group.representative]
            if item.delivery.isRedelivered, item.mayBePlanned { redelivered[item.digest] = group.representative }
        }
        guard !redelivered.isEmpty, isFanOutPossible else { return decided }
        do throws(RegistryError) {
            for fanOut in try parts.fanOuts.fanOuts(of: Array(redelivered.keys)) {
                guard let place = redelivered[fanOut.event.digest] else { continue }
                decided[place] = .large(fanOut, firstDevices: [])
            }
        } catch {
            try fanOutsFailed(error)
        }
        return decided
    }

    /// Notes that the registry did not answer; what waits is tried again later.
    func registryFailed(_ error: RegistryError) {
        metrics.registryFailures.add()
        logger.log(
            error.code == .unavailable ? .warning : .error, "registry.failed",
            [.field("code", error.code.rawValue), .field("message", error.message)])
        health.set(.registry, "the registry does not answer: \(error.message)")
        registryRetry = loop.schedule(afterNanoseconds: repeatDelayNanoseconds) { [self] in
            registryRetry = nil
            scheduleFlush()
        }
    }

    private func recordDatasets(_ prepared: [PreparedEvent]) throws(RegistryError) {
        var unknown: [DatasetKey] = []
        for item in prepared where item.type != .datasetDeleted {
            guard let dataset = item.dataset, !recorded.contains(dataset) else { continue }
            unknown.append(dataset)
        }
        guard !unknown.isEmpty else { return }
        do throws(RegistryError) {
            try parts.registry.recordDatasets(unknown)
            recorded.insert(unknown)
        } catch {
            // A registry that this worker may only read can serve pushes; only `subscribe-all` knows less.
            guard error.code == .readOnly else { throw error }
            logger.log(.warning, "registry.read-only", [.field("message", error.message)])
            recorded.insert(unknown)
        }
    }

    /// The question to the registry; nil for a record, whose subscribers are found by its fields.
    private func request(_ group: DatasetCoalescer.Group, _ item: PreparedEvent) -> AudienceRequest? {
        guard let audience = item.audience else { return nil }
        let excluded = group.superseded.isEmpty ? item.excludedDeviceID : group.excludedDeviceID
        return AudienceRequest(
            audience: audience, excludedDeviceID: excluded, onlyDeviceIDs: item.parking.deviceIDs,
            cursor: cursor(of: item), through: item.parking.chunk?.chunk.through,
            asOfFanOut: item.parking.chunk?.fanOut)
    }

    // MARK: The job

    private func begin(_ group: DatasetCoalescer.Group, _ addressed: AddressedPage, _ prepared: [PreparedEvent]) {
        let item = prepared[group.representative]
        let page = addressed.page
        reportLeftOut(addressed, item)
        if let rejection = addressed.rejection { return reject(item.delivery, item.parking, rejection) }
        // Also if it turns out to be unfit for a push: what waits for its turn comes when this delivery is settled.
        let dataset = item.dataset
        if let dataset { turns.begin(dataset) }
        var devices = page.devices
        if devices.contains(where: { $0.platform == .gcm }) { devices.removeAll { $0.platform == .gcm } }
        var parking = item.parking
        if !group.superseded.isEmpty, group.excludedDeviceID == nil { parking.notifiesOrigin = true }
        let audience = devices
        let announcement = item.announcement
        if let announcement { leaveOutTold(&devices, of: announcement) }
        do throws(EventRejection) {
            let isChunk = parking.chunk != nil
            let renderings = try renderer.render(
                item.event, expiresAt: parking.expiresAt, devices: devices,
                known: isChunk ? chunks[item.delivery.tag]?.renderings ?? [] : devices.isEmpty ? [] : item.renderings)
            countCoalesced(group, audience, prepared)
            var tags: [DeliveryTag] = []
            if isChunk {
                chunkPageBegins(item, next: page.next, renderings: renderings)
            } else {
                metrics.countEvent(
                    item.type, audience.isEmpty ? .unmatched : devices.isEmpty ? .coalesced : .dispatched)
                tags.append(item.delivery.tag)
                for place in group.superseded { tags.append(prepared[place].delivery.tag) }
            }
            let arrival = machine.jobArrived(
                DispatchJob(
                    tags: tags, lane: item.delivery.lane, message: item.delivery.message, parking: parking,
                    identity: PushIdentity(source: item.event.source, identifier: item.event.identifier),
                    renderings: renderings, devices: devices, continuation: isChunk ? nil : page.next,
                    chunk: isChunk ? item.delivery.tag : nil, changed: item.event.time,
                    isNowOrNever: isNowOrNever(item.event),
                    dataset: dataset, announcement: announcement),
                into: &actions)
            let isSuperseded = devices.isEmpty && !audience.isEmpty
            log(
                item, isSuperseded ? .coalesced : fate(item, devices.count, arrival),
                apps: renderings.map(\.app.name), deviceCount: audience.count)
        } catch {
            if parking.chunk != nil {
                chunkRejected(item, error, dataset: dataset)
            } else {
                reject(item.delivery, item.parking, error, dataset: dataset)
            }
            for place in group.superseded { reject(prepared[place].delivery, prepared[place].parking, error) }
        }
    }

    /// What became of an event whose job has begun.
    func fate(_ item: PreparedEvent, _ deviceCount: Int, _ arrival: JobArrival) -> EventFate {
        guard deviceCount > 0 else { return .unmatched }
        if item.parking.hasExpired(nowMilliseconds: parts.now().wall.milliseconds) { return .expired }
        return switch arrival {
        case .taken: .matched
        case .deferred: .deferred
        case .ended: .expired
        }
    }

    private func isNowOrNever(_ event: ChangeEvent) -> Bool {
        guard case .push(let push) = event.kind else { return false }
        return push.options.expirationSeconds == 0
    }

    /// Leaves out the devices that this worker has told of a state that is not older, by another event.
    private func leaveOutTold(_ devices: inout [Recipient], of announcement: DatasetAnnouncement) {
        guard devices.contains(where: { recent.isRedundant(announcement, for: $0.deviceID) }) else { return }
        devices.removeAll { device in
            let wasTold = recent.isRedundant(announcement, for: device.deviceID)
            if wasTold { machine.pushesCoalesced(1, app: renderer.appIndex(named: device.app)) }
            return wasTold
        }
    }

    private func countCoalesced(
        _ group: DatasetCoalescer.Group, _ devices: [Recipient], _ prepared: [PreparedEvent]
    ) {
        for place in group.superseded {
            metrics.countEvent(prepared[place].type, .coalesced)
            log(prepared[place], .coalesced)
            let origin = prepared[place].excludedDeviceID
            for device in devices where !device.deviceID.hasBytes(of: origin) {
                machine.pushesCoalesced(1, app: renderer.appIndex(named: device.app))
            }
        }
    }

    /// Settles an event whose time had passed before it was taken in: nobody is looked up for it, and nobody is told.
    private func expire(_ item: PreparedEvent) {
        forgetCounts(item)
        metrics.countEvent(item.type, .expired)
        log(item, .expired)
        actions.settles.append(item.delivery.tag)
    }

    /// Reports that somebody publishes events with headers that are Apus' own: each is counted, the first logged.
    private func reportIgnoredHeaders(of delivery: Delivery) {
        metrics.headersIgnored.add()
        guard !hasReportedIgnoredHeaders else { return }
        hasReportedIgnoredHeaders = true
        logger.log(
            .warning, "event.headers-ignored",
            fields(of: delivery.message) + [
                .field("exchange", delivery.exchange),
                .field("advice", "Publish without headers that begin with \(ParkingHeader.prefix): Apus ignores them."),
            ])
    }

    /// Turns a delivery into a dead letter.
    func reject(
        _ delivery: Delivery, _ parking: ParkingRecord, _ rejection: EventRejection, dataset: DatasetKey? = nil
    ) {
        metrics.countEvent(.unknown, .rejected)
        logRejected(delivery.message, rejection)
        machine.deliveryRejected(
            [delivery.tag], message: delivery.message, parking: parking, dataset: dataset,
            reason: rejection.reason.rawValue, detail: rejection.message, into: &actions)
    }
}
