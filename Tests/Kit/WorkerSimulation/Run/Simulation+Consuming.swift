import ChangeEvents
import DispatchCore
import Messages
import Notifications

/// Deliveries and acknowledgements.
extension Simulation {
    func connectConsumer(_ worker: SimulatedWorker<Machine>, after nanoseconds: UInt64) {
        guard !worker.isConnecting else { return }
        worker.isConnecting = true
        schedule(.consumerConnects(worker: worker.number, generation: worker.generation), after: nanoseconds)
    }

    func consumerConnects(_ worker: SimulatedWorker<Machine>) {
        worker.isConnecting = false
        guard worker.machine != nil, !worker.isConnected, !worker.isDraining, !worker.isPaused else { return }
        worker.epoch += 1
        worker.isConnected = true
        worker.frontier = AcknowledgementFrontier(batchSize: max(1, min(50, options.prefetch / 2)))
        worker.unsettled = []
        worker.isAcknowledgementScheduled = false
        broker.open(worker.number, epoch: worker.epoch)
        look(worker)
        worker.machine?.sourceStateChanged(.consuming(epoch: worker.epoch), at: moment(worker))
        tickAndPerform(worker)
        pump(worker)
    }

    /// The connection that consumes is lost.
    func loseConsumer(_ worker: SimulatedWorker<Machine>) {
        guard worker.machine != nil, worker.isConnected else { return }
        // Deliveries under way may have been received, or not.
        if brokerRandom.below(2) == 0 { worker.deliveries = [] }
        look(worker)
        closeChannel(worker)
        worker.machine?.sourceStateChanged(.interrupted(reason: "lost"), at: moment(worker))
        tickAndPerform(worker)
        connectConsumer(worker, after: brokerRandom.nanoseconds(milliseconds: 50...3_000))
    }

    /// The broker requeues a connection's deliveries.
    func closeChannel(_ worker: SimulatedWorker<Machine>) {
        guard worker.isConnected else { return }
        worker.isConnected = false
        let isShuffled = brokerRandom.below(2) == 0
        let isInFront = brokerRandom.below(3) > 0
        let dead = broker.close(
            worker.number, reorder: { if isShuffled { brokerRandom.shuffle(&$0) } }, isInFront: isInFront)
        for stored in dead { brokerDeadLetters(stored, reason: "delivery_limit") }
        pumpAll()
    }

    /// The broker itself makes a dead letter of a message.
    func brokerDeadLetters(_ stored: Broker.Stored, reason: String) {
        books.deadLettered(
            stored.event, devices: Self.devices(of: stored.message), reason: reason, isByBroker: true)
        books.messageLeft(stored.event, atMilliseconds: trueMilliseconds)
    }

    static func devices(of message: Message) -> [String]? {
        guard case .array(let values)? = message.header(RetryHeader.devices) else { return nil }
        return values.compactMap { if case .string(let name) = $0 { name } else { nil } }
    }

    // MARK: Deliveries

    func pumpAll() { for worker in workers { pump(worker) } }

    func pump(_ worker: SimulatedWorker<Machine>) {
        guard worker.isConnected, !worker.isPaused, !worker.isDraining, !worker.isDeliveryScheduled,
            broker.hasWork(for: worker.number)
        else { return }
        worker.isDeliveryScheduled = true
        schedule(
            .brokerDelivers(worker: worker.number), after: brokerRandom.nanoseconds(microseconds: 100...2_500))
    }

    func brokerDelivers(_ worker: SimulatedWorker<Machine>) {
        worker.isDeliveryScheduled = false
        guard worker.isConnected, !worker.isPaused, !worker.isDraining else { return }
        var dropped: [Broker.Stored] = []
        let deliveries = broker.deliver(
            to: worker.number, maximum: brokerRandom.within(1...100), atNanoseconds: now
        ) { dropped.append($0) }
        for stored in dropped { brokerDeadLetters(stored, reason: "expired") }
        for delivery in deliveries {
            if case .int64(let event)? = options.tracedEvents.isEmpty ? nil : delivery.message.header("n") {
                tell(Int(event), "is delivered to worker \(worker.number) as \(delivery.tag)")
            }
            worker.frontier.received(delivery.tag.number, isUrgent: delivery.deliveryClass == .bulk)
            worker.unsettled.insert(delivery.tag.number)
        }
        worker.unsettledMaximum = max(worker.unsettledMaximum, worker.unsettled.count)
        if !deliveries.isEmpty {
            worker.deliveries += deliveries
            scheduleLook(worker)
        }
        pump(worker)
    }

    func brokerHandsOver(_ queue: Int) {
        let isLosing = ongoing[.leader, default: 0] > 0
        let (repeated, next) = broker.handOver(queue, atNanoseconds: now) {
            isLosing && brokerRandom.below(50) == 0
        }
        for event in repeated { books.messageArrived(event) }
        if let next { events.schedule(.brokerHandsOver(queue: queue), atNanoseconds: next) }
        pumpAll()
    }

    // MARK: Acknowledgements

    func settle(_ worker: SimulatedWorker<Machine>, _ tags: [DeliveryTag]) {
        for tag in tags {
            digest.mix(tag.number)
            guard isKnown(tag, worker) else { continue }
            worker.frontier.settled(tag.number, nowNanoseconds: now)
        }
        acknowledge(worker)
    }

    func reject(_ worker: SimulatedWorker<Machine>, _ tags: [DeliveryTag]) {
        for tag in tags {
            digest.mix(tag.number)
            guard isKnown(tag, worker), worker.frontier.rejected(tag.number, nowNanoseconds: now) else { continue }
            schedule(
                .rejectionArrives(worker: worker.number, epoch: tag.epoch, number: tag.number),
                after: wayOfAcknowledgement(worker))
        }
        acknowledge(worker)
    }

    /// Whether a tag names a delivery of the present connection that was not settled; those of earlier ones are
    /// ignored.
    private func isKnown(_ tag: DeliveryTag, _ worker: SimulatedWorker<Machine>) -> Bool {
        if tag.epoch > worker.epoch {
            books.report(
                .tagsAreKnown, "Worker \(worker.number) settles \(tag), of a connection that is still to come.")
        }
        guard worker.isConnected, tag.epoch == worker.epoch else { return false }
        if worker.unsettled.remove(tag.number) == nil {
            books.report(
                .tagsAreKnown, "Worker \(worker.number) settles \(tag), which it has settled before, or never had.")
        }
        return true
    }

    private func wayOfAcknowledgement(_ worker: SimulatedWorker<Machine>) -> UInt64 {
        worker.acknowledgedNanoseconds = max(
            worker.acknowledgedNanoseconds, now + brokerRandom.nanoseconds(microseconds: 50...2_000))
        return worker.acknowledgedNanoseconds - now
    }

    private func acknowledge(_ worker: SimulatedWorker<Machine>) {
        guard worker.isConnected else { return }
        var due: [AcknowledgementFrontier.Acknowledgement] = []
        worker.frontier.takeDue(nowNanoseconds: now, into: &due)
        for acknowledgement in due {
            schedule(
                .acknowledgementArrives(
                    worker: worker.number, epoch: worker.epoch, number: acknowledgement.number,
                    isMultiple: acknowledgement.isMultiple), after: wayOfAcknowledgement(worker))
        }
        guard !worker.isAcknowledgementScheduled, let next = worker.frontier.nextDueNanoseconds else { return }
        worker.isAcknowledgementScheduled = true
        schedule(
            .acknowledgementsAreDue(worker: worker.number, epoch: worker.epoch), after: next > now ? next - now : 0)
    }

    func acknowledgementsAreDue(_ worker: SimulatedWorker<Machine>, _ epoch: UInt32) {
        guard worker.isConnected, worker.epoch == epoch else { return }
        worker.isAcknowledgementScheduled = false
        acknowledge(worker)
    }

    func acknowledgementArrives(_ worker: Int, _ epoch: UInt32, _ number: UInt64, _ isMultiple: Bool) {
        guard let gone = broker.acknowledge(worker, epoch: epoch, number: number, isMultiple: isMultiple) else {
            return books.report(.tagsAreKnown, "Worker \(worker) acknowledges \(number), which is not unacknowledged.")
        }
        for stored in gone { tell(stored.event, "is acknowledged by worker \(worker)") }
        for stored in gone { books.messageLeft(stored.event, atMilliseconds: trueMilliseconds) }
        pump(workers[worker])
    }

    func rejectionArrives(_ worker: Int, _ epoch: UInt32, _ number: UInt64) {
        guard let stored = broker.reject(worker, epoch: epoch, number: number) else { return }
        brokerDeadLetters(stored, reason: "rejected")
        pump(workers[worker])
    }

    /// A worker that ends writes the acknowledgements of all that it has settled.
    func writeLastAcknowledgements(_ worker: SimulatedWorker<Machine>) {
        guard worker.isConnected else { return }
        var due: [AcknowledgementFrontier.Acknowledgement] = []
        worker.frontier.takeDue(nowNanoseconds: now, isFinal: true, into: &due)
        for acknowledgement in due {
            acknowledgementArrives(worker.number, worker.epoch, acknowledgement.number, acknowledgement.isMultiple)
        }
    }

    // MARK: Pausing

    func pauseConsumption(_ worker: SimulatedWorker<Machine>, _ isPaused: Bool) {
        digest.mix(isPaused ? 1 : 2)
        guard worker.isPaused != isPaused else { return }
        worker.isPaused = isPaused
        guard !isPaused else { return }
        if worker.isConnected {
            schedule(.consumerReconnects(worker: worker.number, epoch: worker.epoch), after: 1_000_000)
        } else {
            connectConsumer(worker, after: 1_000_000)
        }
    }

    /// A worker that consumes again does so on a new connection.
    func consumerReconnects(_ worker: SimulatedWorker<Machine>, _ epoch: UInt32) {
        guard worker.machine != nil, worker.isConnected, worker.epoch == epoch, !worker.isPaused, !worker.isDraining
        else {
            return
        }
        closeChannel(worker)
        consumerConnects(worker)
    }
}
