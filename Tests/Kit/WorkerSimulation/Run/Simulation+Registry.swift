import RegistryCore

/// Requests to the registry, on two connections for each worker: one for reads, one for writes.
extension Simulation {
    func ask(_ seat: Seat<Machine>, _ number: UInt64, _ request: Machine.Request) {
        digest.mix(number)
        let isWrite = Machine.isWrite(request)
        let slot = asked.insert(
            Asked(worker: seat.worker, generation: seat.generation, number: number, request: request))
        let delay =
            ongoing[.registrySlow, default: 0] > 0
            ? registryRandom.nanoseconds(milliseconds: 50...4_000)
            : registryRandom.nanoseconds(microseconds: 100...1_500)
        let begins = max(now, isWrite ? seat.writeNanoseconds : seat.readNanoseconds)
        let ends = begins + delay
        if isWrite { seat.writeNanoseconds = ends } else { seat.readNanoseconds = ends }
        events.schedule(.registryWorks(slot), atNanoseconds: ends)
        seat.requestsOut += 1
        if seat.requestsOut > Machine.requestsMaximum {
            books.report(.bounds, "Worker \(seat.worker) waits for \(seat.requestsOut) answers of the registry.")
        }
    }

    func registryWorks(_ slot: UInt32) {
        guard let question = asked[slot] else { return }
        let seat = seats[question.worker]
        let isWrite = Machine.isWrite(question.request)
        guard seat.generation == question.generation,
            let responder = isWrite ? seat.writeResponder : seat.readResponder
        else {
            // Its process has died before the statement was sent.
            _ = asked.remove(slot)
            return
        }
        var result: Result<Machine.Answer, RegistryError>
        do throws(RegistryError) {
            result = .success(try Machine.answer(question.request, by: responder, at: moment(seat)))
        } catch {
            result = .failure(error)
        }
        if registryIsLosing, registryRandom.below(2) == 0 {
            result = .failure(RegistryError(.unavailable, "The connection was lost before the answer."))
        }
        asked[slot]?.result = result
        let wayBack =
            registryIsLosing
            ? registryRandom.nanoseconds(milliseconds: 1...1_000) : registryRandom.nanoseconds(microseconds: 50...500)
        // The connection answers in the order of the questions.
        let answers = now + wayBack
        if isWrite {
            seat.writeNanoseconds = max(seat.writeNanoseconds, answers)
        } else {
            seat.readNanoseconds = max(seat.readNanoseconds, answers)
        }
        events.schedule(.registryAnswers(slot), atNanoseconds: answers)
    }

    func registryAnswers(_ slot: UInt32) {
        guard let question = asked.remove(slot), let result = question.result else { return }
        let seat = seats[question.worker]
        guard seat.generation == question.generation, seat.machine != nil else { return }
        seat.requestsOut -= 1
        seat.answers.append((question.number, result))
        scheduleLook(seat)
    }
}
