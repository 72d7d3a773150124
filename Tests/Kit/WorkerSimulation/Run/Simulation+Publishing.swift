import ChangeEvents
import Messages

/// Events of backends, and what workers publish.
extension Simulation {
    // MARK: Backends

    func backendsPublish() {
        guard publishedCount < options.eventCount else { return }
        guard !broker.isBlocked else { return schedule(.backendsPublish, after: 50_000_000) }
        // Ten milliseconds' worth on average, now and then many at once.
        let usual = max(1, options.eventsPerSecond / 50)
        let count = loopRandom.below(50) == 0 ? usual * 20 : loopRandom.within(0...usual * 2)
        for _ in 0..<min(count, options.eventCount - publishedCount) { publishNext() }
        lastPublishNanoseconds = now
        if publishedCount < options.eventCount {
            schedule(.backendsPublish, after: loopRandom.nanoseconds(milliseconds: 10...40))
        } else {
            endFaults()
        }
        pumpAll()
    }

    private func publishNext() {
        publishedCount += 1
        let event = load.next(world, atMilliseconds: trueMilliseconds)
        books.published(event, atNanoseconds: now, milliseconds: trueMilliseconds)
        books.counts.events += 1
        tell(event.number, "is published: \(event.subject), \(books.events[event.number].expected.count) pushes")
        if event.subject.app == 0, !books.events[event.number].expected.isEmpty {
            healthyEvents.append((event.number, broker.waitingCount))
        }
        enqueue(event.message, event: event.number)
        if ongoing[.twice, default: 0] > 0, loopRandom.below(300) == 0 {
            repeated[event.number] = event.message
            schedule(
                .publisherRepeats(event: event.number), after: loopRandom.nanoseconds(milliseconds: 1...5_000))
        }
    }

    /// A backend that has not seen the confirm publishes its event once more.
    func publisherRepeats(_ event: Int) {
        guard let message = repeated.removeValue(forKey: event) else { return }
        enqueue(message, event: event)
        pumpAll()
    }

    private func enqueue(_ message: Message, event: Int) {
        var stored = Broker.Stored(
            message: message, exchange: Broker.exchange, routingKey: "load", event: event)
        if let expiration = message.properties.expiration, let milliseconds = UInt64(expiration) {
            stored.dueNanoseconds = now + milliseconds * 1_000_000
        }
        _ = broker.enqueue(stored, queue: event % options.workQueueCount, atNanoseconds: now)
        books.messageArrived(event)
    }

    // MARK: Workers

    func publish(_ worker: SimulatedWorker<Machine>, _ messages: [OutgoingMessage]) {
        for outgoing in messages {
            guard let event = Self.event(of: outgoing) else { continue }
            digest.mix(outgoing.identifier)
            digest.mix(outgoing.routingKey.utf8.count)
            lastSequence += 1
            let slot = self.outgoing.insert(
                OutgoingPublish(
                    worker: worker.number, generation: worker.generation, identifier: outgoing.identifier,
                    queue: broker.queue(named: outgoing.routingKey), message: outgoing.message, event: event,
                    sequence: lastSequence, connection: worker.connection, isOutcome: outgoing.isOptional))
            worker.publishesOut += 1
            if worker.canPublish { write(slot, worker) }
        }
        worker.publishesOutMaximum = max(worker.publishesOutMaximum, worker.publishesOut)
    }

    private func write(_ slot: UInt32, _ worker: SimulatedWorker<Machine>) {
        worker.publishedNanoseconds = max(
            worker.publishedNanoseconds, now + brokerRandom.nanoseconds(microseconds: 100...1_500))
        events.schedule(
            .publishArrives(slot, connection: worker.connection), atNanoseconds: worker.publishedNanoseconds)
    }

    func publishArrives(_ slot: UInt32, _ connection: Int) {
        guard let publish = outgoing[slot], publish.connection == connection, !publish.hasArrived else { return }
        let worker = workers[publish.worker]
        guard !broker.isBlocked else {
            return schedule(.publishArrives(slot, connection: connection), after: 20_000_000)
        }
        if publish.isOutcome { return outcomeArrives(slot, publish, worker) }
        guard let queue = publish.queue, broker.queues[queue].isThere else {
            return end(slot, worker, .returned("NO_ROUTE"))
        }
        guard !broker.queues[queue].isElecting else {
            return schedule(.publishArrives(slot, connection: connection), after: 20_000_000)
        }
        if ongoing[.nack, default: 0] > 0, brokerRandom.below(3) == 0 { return end(slot, worker, .refused) }
        if publish.message.body.count + 20 * (Self.devices(of: publish.message)?.count ?? 0)
            > broker.messageBytesMaximum
        {
            return end(slot, worker, .rejected("PRECONDITION_FAILED"))
        }
        tell(publish.event, "has a copy in \(broker.queues[queue].name), by worker \(worker.number)")
        store(publish, queue)
        arrived(slot, connection)
    }

    private func arrived(_ slot: UInt32, _ connection: Int) {
        outgoing[slot]?.hasArrived = true
        let isLate = ongoing[.confirms, default: 0] > 0 && brokerRandom.below(4) == 0
        schedule(
            .publishIsConfirmed(slot, connection: connection),
            after: brokerRandom.nanoseconds(milliseconds: isLate ? 500...8_000 : 1...8))
    }

    private func outcomeArrives(_ slot: UInt32, _ publish: OutgoingPublish, _ worker: SimulatedWorker<Machine>) {
        if ongoing[.nack, default: 0] > 0, brokerRandom.below(3) == 0 { return end(slot, worker, .refused) }
        books.told(publish.event, publish.message)
        arrived(slot, publish.connection)
    }

    /// The number of the event that a publish is about: the header of a copy has it, the subject of an outcome.
    private static func event(of outgoing: OutgoingMessage) -> Int? {
        guard outgoing.isOptional else {
            guard case .int64(let event)? = outgoing.message.header("n") else { return nil }
            return Int(event)
        }
        guard case .string(let identifier)? = outgoing.message.header("cloudEvents_subject") else { return nil }
        return Int(identifier.dropFirst())
    }

    /// A queue stores a worker's publish.
    private func store(_ publish: OutgoingPublish, _ queue: Int) {
        switch broker.queues[queue].kind {
        case .deadLetter:
            return books.deadLettered(
                publish.event, devices: Self.devices(of: publish.message),
                reason: Self.text(RetryHeader.reason, of: publish.message), isByBroker: false,
                detail: Self.text(RetryHeader.detail, of: publish.message))
        case .retry: noteWait(publish)
        case .work, .fanOut: break
        }
        books.messageArrived(publish.event)
        let stored = Broker.Stored(
            message: publish.message, exchange: "", routingKey: broker.queues[queue].name, event: publish.event)
        if let due = broker.enqueue(stored, queue: queue, atNanoseconds: now) {
            events.schedule(.brokerHandsOver(queue: queue), atNanoseconds: due)
        }
        if case .fanOut = broker.queues[queue].kind { pumpAll() }
    }

    /// Notes that a copy of an event waits, which excuses a delay.
    ///
    /// Refused credentials excuse only a copy for devices that they may concern. These may be devices of older changes
    /// that the event replaced, so the copy tells them where it names some.
    private func noteWait(_ publish: OutgoingPublish) {
        let reason = Self.text(RetryHeader.reason, of: publish.message)
        let isOfCredentials = reason == "key-rejected" || reason == "address-refused"
        let named = Self.devices(of: publish.message)?.map { Books.numbers(of: $0).device }
        let devices = named ?? books.events[publish.event].expected.map { Int($0.device) }
        let mayConcern = devices.contains { world.devices.indices.contains($0) && !service.isNeverRefused($0) }
        guard !isOfCredentials || mayConcern else { return }
        books.events[publish.event].hasWaited = true
    }

    private static func text(_ header: String, of message: Message) -> String {
        if case .string(let text)? = message.header(header) { text } else { "" }
    }

    func publishIsConfirmed(_ slot: UInt32, _ connection: Int) {
        guard let publish = outgoing[slot], publish.connection == connection, publish.hasArrived else { return }
        end(slot, workers[publish.worker], .confirmed)
    }

    private func end(_ slot: UInt32, _ worker: SimulatedWorker<Machine>, _ outcome: PublishOutcome) {
        guard let publish = outgoing.remove(slot), publish.generation == worker.generation else { return }
        worker.publishesOut -= 1
        worker.outcomes.append((publish.identifier, outcome))
        scheduleLook(worker)
    }

    // MARK: The connection

    func publisherConnects(_ worker: SimulatedWorker<Machine>) {
        guard worker.machine != nil, !worker.canPublish else { return }
        worker.canPublish = true
        for slot in publishes(of: worker) {
            outgoing[slot]?.connection = worker.connection
            outgoing[slot]?.hasArrived = false
            write(slot, worker)
        }
    }

    /// The publishing connection is lost: unconfirmed messages may have reached the broker, and are published again.
    func losePublisher(_ worker: SimulatedWorker<Machine>) {
        guard worker.machine != nil, worker.canPublish else { return }
        worker.canPublish = false
        worker.connection += 1
        arriveUnconfirmed(worker)
        schedule(
            .publisherConnects(worker: worker.number, generation: worker.generation),
            after: brokerRandom.nanoseconds(milliseconds: 50...3_000))
    }

    /// A process is gone: some of its publishes have reached the broker, and no process waits for them.
    func abandonPublishes(_ worker: SimulatedWorker<Machine>) {
        arriveUnconfirmed(worker)
        for slot in publishes(of: worker) { _ = outgoing.remove(slot) }
    }

    private func arriveUnconfirmed(_ worker: SimulatedWorker<Machine>) {
        for slot in publishes(of: worker) {
            guard let publish = outgoing[slot], !publish.hasArrived, brokerRandom.below(2) == 0 else { continue }
            if publish.isOutcome {
                if !broker.isBlocked { books.told(publish.event, publish.message) }
                continue
            }
            guard let queue = publish.queue, broker.queues[queue].isThere, !broker.isBlocked else { continue }
            store(publish, queue)
        }
    }

    private func publishes(of worker: SimulatedWorker<Machine>) -> [UInt32] {
        outgoing.numbers.filter { outgoing[$0]?.worker == worker.number }
            .sorted { (outgoing[$0]?.sequence ?? 0) < (outgoing[$1]?.sequence ?? 0) }
    }
}
