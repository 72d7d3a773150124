import RegistryCore

/// Requests to the registry, on two connections for each worker: one for reads, one for writes.
extension Simulation {
    func ask(_ worker: SimulatedWorker<Machine>, _ number: UInt64, _ request: Machine.Request) {
        digest.mix(number)
        let isWrite = Machine.isWrite(request)
        let slot = asked.insert(
            Asked(worker: worker.number, generation: worker.generation, number: number, request: request))
        let delay =
            ongoing[.registrySlow, default: 0] > 0
            ? registryRandom.nanoseconds(milliseconds: 50...4_000)
            : registryRandom.nanoseconds(microseconds: 100...1_500)
        let begins = max(now, isWrite ? worker.writeNanoseconds : worker.readNanoseconds)
        let ends = begins + delay
        if isWrite { worker.writeNanoseconds = ends } else { worker.readNanoseconds = ends }
        events.schedule(.registryWorks(slot), atNanoseconds: ends)
        worker.requestsOut += 1
        if worker.requestsOut > Machine.requestsMaximum {
            books.report(.bounds, "Worker \(worker.number) waits for \(worker.requestsOut) answers of the registry.")
        }
    }

    func registryWorks(_ slot: UInt32) {
        guard let question = asked[slot] else { return }
        let worker = workers[question.worker]
        let isWrite = Machine.isWrite(question.request)
        guard worker.generation == question.generation,
            let responder = isWrite ? worker.writeResponder : worker.readResponder
        else {
            // Its process has died before the statement was sent.
            _ = asked.remove(slot)
            return
        }
        var result: Result<Machine.Answer, RegistryError>
        do throws(RegistryError) {
            result = .success(try Machine.answer(question.request, by: responder, at: moment(worker)))
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
            worker.writeNanoseconds = max(worker.writeNanoseconds, answers)
        } else {
            worker.readNanoseconds = max(worker.readNanoseconds, answers)
        }
        events.schedule(.registryAnswers(slot), atNanoseconds: answers)
    }

    func registryAnswers(_ slot: UInt32) {
        guard let question = asked.remove(slot), let result = question.result else { return }
        let worker = workers[question.worker]
        guard worker.generation == question.generation, worker.machine != nil else { return }
        worker.requestsOut -= 1
        worker.answers.append((question.number, result))
        scheduleLook(worker)
    }
}
