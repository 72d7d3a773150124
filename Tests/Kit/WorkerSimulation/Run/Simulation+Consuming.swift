import ChangeEvents
import DispatchCore
import Messages
import Notifications

/// Deliveries and acknowledgements.
extension Simulation {
    func connectConsumer(_ seat: Seat<Machine>, after nanoseconds: UInt64) {
        guard !seat.isConnecting else { return }
        seat.isConnecting = true
        schedule(.consumerConnects(worker: seat.worker, generation: seat.generation), after: nanoseconds)
    }

    func consumerConnects(_ seat: Seat<Machine>) {
        seat.isConnecting = false
        guard seat.machine != nil, !seat.isConnected, !seat.isDraining, !seat.isPaused else { return }
        seat.epoch += 1
        seat.isConnected = true
        seat.frontier = AcknowledgementFrontier(batchSize: max(1, min(50, options.prefetch / 2)))
        seat.unsettled = []
        seat.isAcknowledgementScheduled = false
        broker.open(seat.worker, epoch: seat.epoch)
        look(seat)
        seat.machine?.sourceStateChanged(.consuming(epoch: seat.epoch), at: moment(seat))
        tickAndPerform(seat)
        pump(seat)
    }

    /// The connection that consumes is lost.
    func loseConsumer(_ seat: Seat<Machine>) {
        guard seat.machine != nil, seat.isConnected else { return }
        // Deliveries under way may have been received, or not.
        if brokerRandom.below(2) == 0 { seat.deliveries = [] }
        look(seat)
        closeChannel(seat)
        seat.machine?.sourceStateChanged(.interrupted(reason: "lost"), at: moment(seat))
        tickAndPerform(seat)
        connectConsumer(seat, after: brokerRandom.nanoseconds(milliseconds: 50...3_000))
    }

    /// The broker requeues a connection's deliveries.
    func closeChannel(_ seat: Seat<Machine>) {
        guard seat.isConnected else { return }
        seat.isConnected = false
        let isShuffled = brokerRandom.below(2) == 0
        let isInFront = brokerRandom.below(3) > 0
        let dead = broker.close(
            seat.worker, reorder: { if isShuffled { brokerRandom.shuffle(&$0) } }, isInFront: isInFront)
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

    func pumpAll() { for seat in seats { pump(seat) } }

    func pump(_ seat: Seat<Machine>) {
        guard seat.isConnected, !seat.isPaused, !seat.isDraining, !seat.isDeliveryScheduled,
            broker.hasWork(for: seat.worker)
        else { return }
        seat.isDeliveryScheduled = true
        schedule(
            .brokerDelivers(worker: seat.worker), after: brokerRandom.nanoseconds(microseconds: 100...2_500))
    }

    func brokerDelivers(_ seat: Seat<Machine>) {
        seat.isDeliveryScheduled = false
        guard seat.isConnected, !seat.isPaused, !seat.isDraining else { return }
        var dropped: [Broker.Stored] = []
        let deliveries = broker.deliver(
            to: seat.worker, maximum: brokerRandom.within(1...100), atNanoseconds: now
        ) { dropped.append($0) }
        for stored in dropped { brokerDeadLetters(stored, reason: "expired") }
        for delivery in deliveries {
            if case .int64(let event)? = options.tracedEvents.isEmpty ? nil : delivery.message.header("n") {
                tell(Int(event), "is delivered to worker \(seat.worker) as \(delivery.tag)")
            }
            seat.frontier.received(delivery.tag.number, isUrgent: delivery.deliveryClass == .bulk)
            seat.unsettled.insert(delivery.tag.number)
        }
        seat.unsettledMaximum = max(seat.unsettledMaximum, seat.unsettled.count)
        if !deliveries.isEmpty {
            seat.deliveries += deliveries
            scheduleLook(seat)
        }
        pump(seat)
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

    func settle(_ seat: Seat<Machine>, _ tags: [DeliveryTag]) {
        for tag in tags {
            digest.mix(tag.number)
            guard isKnown(tag, seat) else { continue }
            seat.frontier.settled(tag.number, nowNanoseconds: now)
        }
        acknowledge(seat)
    }

    func reject(_ seat: Seat<Machine>, _ tags: [DeliveryTag]) {
        for tag in tags {
            digest.mix(tag.number)
            guard isKnown(tag, seat), seat.frontier.rejected(tag.number, nowNanoseconds: now) else { continue }
            schedule(
                .rejectionArrives(worker: seat.worker, epoch: tag.epoch, number: tag.number),
                after: wayOfAcknowledgement(seat))
        }
        acknowledge(seat)
    }

    /// Whether a tag names a delivery of the present connection that was not settled; those of earlier ones are
    /// ignored.
    private func isKnown(_ tag: DeliveryTag, _ seat: Seat<Machine>) -> Bool {
        if tag.epoch > seat.epoch {
            books.report(.tagsAreKnown, "Worker \(seat.worker) settles \(tag), of a connection that is still to come.")
        }
        guard seat.isConnected, tag.epoch == seat.epoch else { return false }
        if seat.unsettled.remove(tag.number) == nil {
            books.report(
                .tagsAreKnown, "Worker \(seat.worker) settles \(tag), which it has settled before, or never had.")
        }
        return true
    }

    private func wayOfAcknowledgement(_ seat: Seat<Machine>) -> UInt64 {
        seat.acknowledgedNanoseconds = max(
            seat.acknowledgedNanoseconds, now + brokerRandom.nanoseconds(microseconds: 50...2_000))
        return seat.acknowledgedNanoseconds - now
    }

    private func acknowledge(_ seat: Seat<Machine>) {
        guard seat.isConnected else { return }
        var due: [AcknowledgementFrontier.Acknowledgement] = []
        seat.frontier.takeDue(nowNanoseconds: now, into: &due)
        for acknowledgement in due {
            schedule(
                .acknowledgementArrives(
                    worker: seat.worker, epoch: seat.epoch, number: acknowledgement.number,
                    isMultiple: acknowledgement.isMultiple), after: wayOfAcknowledgement(seat))
        }
        guard !seat.isAcknowledgementScheduled, let next = seat.frontier.nextDueNanoseconds else { return }
        seat.isAcknowledgementScheduled = true
        schedule(
            .acknowledgementsAreDue(worker: seat.worker, epoch: seat.epoch), after: next > now ? next - now : 0)
    }

    func acknowledgementsAreDue(_ seat: Seat<Machine>, _ epoch: UInt32) {
        guard seat.isConnected, seat.epoch == epoch else { return }
        seat.isAcknowledgementScheduled = false
        acknowledge(seat)
    }

    func acknowledgementArrives(_ worker: Int, _ epoch: UInt32, _ number: UInt64, _ isMultiple: Bool) {
        guard let gone = broker.acknowledge(worker, epoch: epoch, number: number, isMultiple: isMultiple) else {
            return books.report(.tagsAreKnown, "Worker \(worker) acknowledges \(number), which is not unacknowledged.")
        }
        for stored in gone { tell(stored.event, "is acknowledged by worker \(worker)") }
        for stored in gone { books.messageLeft(stored.event, atMilliseconds: trueMilliseconds) }
        pump(seats[worker])
    }

    func rejectionArrives(_ worker: Int, _ epoch: UInt32, _ number: UInt64) {
        guard let stored = broker.reject(worker, epoch: epoch, number: number) else { return }
        brokerDeadLetters(stored, reason: "rejected")
        pump(seats[worker])
    }

    /// A worker that ends writes the acknowledgements of all that it has settled.
    func writeLastAcknowledgements(_ seat: Seat<Machine>) {
        guard seat.isConnected else { return }
        var due: [AcknowledgementFrontier.Acknowledgement] = []
        seat.frontier.takeDue(nowNanoseconds: now, isFinal: true, into: &due)
        for acknowledgement in due {
            acknowledgementArrives(seat.worker, seat.epoch, acknowledgement.number, acknowledgement.isMultiple)
        }
    }

    // MARK: Pausing

    func pauseConsumption(_ seat: Seat<Machine>, _ isPaused: Bool) {
        digest.mix(isPaused ? 1 : 2)
        guard seat.isPaused != isPaused else { return }
        seat.isPaused = isPaused
        guard !isPaused else { return }
        if seat.isConnected {
            schedule(.consumerReconnects(worker: seat.worker, epoch: seat.epoch), after: 1_000_000)
        } else {
            connectConsumer(seat, after: 1_000_000)
        }
    }

    /// A worker that consumes again does so on a new connection.
    func consumerReconnects(_ seat: Seat<Machine>, _ epoch: UInt32) {
        guard seat.machine != nil, seat.isConnected, seat.epoch == epoch, !seat.isPaused, !seat.isDraining else {
            return
        }
        closeChannel(seat)
        consumerConnects(seat)
    }
}
