import ChangeEvents
import Essentials
import RegistryCore

/// Between `EventMemory` and the others: the registry remembers events before their deliveries are settled.
extension PipelineMachine {
    /// Keeps back the deliveries whose events are to be remembered first, and asks the registry to remember them.
    ///
    /// The first request, when a worker starts, finds out whether the registry can be written.
    mutating func rememberEnded(at now: Moment) {
        guard intake.memory.isOn, hasReadPauses else { return }
        for rejection in actions.dispatch.rejections { for tag in rejection.tags { intake.forgo(tag) } }
        intake.memory.settled(&actions.dispatch.settles)
        guard let events = intake.memory.nextWrite(at: now.monotonic) else { return }
        ask(.remember(events), .memory, at: now)
    }

    /// The registry answered a request to remember events.
    ///
    /// Their deliveries end even if it failed: an event that comes again would be pushed again, as without a memory.
    mutating func memoryAnswered(_ result: Result<RegistryAnswer, RegistryError>, at now: Moment) {
        switch result {
        case .success(.remembered(let forgottenEarly)):
            if forgottenEarly > 0 { actions.notices.append(.forgottenEarly(forgottenEarly)) }
        case .failure(let error):
            intake.memory.writeFailed(error, at: now.monotonic)
            actions.notices.append(.notRemembered(error))
        default: assertionFailure("the registry answered something else than it was asked")
        }
        end(intake.memory.writeEnded(at: now.monotonic))
    }

    /// The registry remembers some events of a group: these end, and the others begin again without them.
    mutating func endRepeated(_ events: [DecodedEvent], _ remembered: [RememberedEvent]) {
        var others: [Delivery] = []
        for event in events {
            if event.retryState.isRemembered,
                let known = remembered.first(where: { $0.identity == event.identity })
            {
                end(intake.memory.repetitionFound(event, of: known.content))
            } else {
                others.append(event.delivery)
            }
        }
        intake.putBack(others)
        if let dataset = events.first?.dataset { intake.ended(dataset) }
    }

    private mutating func end(_ ending: EventMemory.Ending) {
        for event in ending.repeated { report(event, .repeated) }
        actions.notices += ending.different.map { .repeatedDifferently($0) }
        actions.dispatch.settles += ending.tags
    }
}
