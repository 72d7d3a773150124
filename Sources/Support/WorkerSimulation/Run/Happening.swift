/// What can happen at a point in time of a simulation.
enum Happening {
    case backendsPublish
    case publisherRepeats(event: Int)
    case brokerDelivers(worker: Int)
    case brokerHandsOver(queue: Int)
    case publishArrives(UInt32, connection: Int)
    case publishIsConfirmed(UInt32, connection: Int)
    case acknowledgementArrives(worker: Int, epoch: UInt32, number: UInt64, isMultiple: Bool)
    case rejectionArrives(worker: Int, epoch: UInt32, number: UInt64)
    case acknowledgementsAreDue(worker: Int, epoch: UInt32)
    case pushEnds(UInt32)
    case registryWorks(UInt32)
    case registryAnswers(UInt32)
    case workerStarts(worker: Int)
    case workerLooks(worker: Int, generation: Int)
    case workerTicks(worker: Int, generation: Int, nanoseconds: UInt64)
    case workerIsStopped(worker: Int, generation: Int)
    case consumerConnects(worker: Int, generation: Int)
    case consumerBeginsAnew(worker: Int, epoch: UInt32)
    case publisherConnects(worker: Int, generation: Int)
    case routesChange(worker: Int, generation: Int, app: Int)
    case faultBegins(Fault)
    case faultEnds(Fault, target: Int)
    case invariantsAreLookedAt
}
