import DispatchCore
import Metrics
import RegistryCore
import StructuredLogging

/// The log and the metrics of large fan-outs.
extension Pipeline {
    func report(_ notice: FanOutServing.Notice) {
        switch notice {
        case .flowHangs(let flow): logger.log(.warning, "fanout.hangs", [.field("of", flow.name)])
        case .endingsNotRecorded(let count, let error):
            logger.log(
                .warning, "fanout.chunk.not-recorded", [.field("chunks", count), .field("message", error.message)])
        }
    }

    func count(_ counts: FanOutServing.Counts) {
        metrics.fanOuts.chunksServed.add(counts.chunksServed)
        metrics.fanOuts.chunksCancelled.add(counts.chunksCancelled)
        metrics.fanOuts.chunksRepeated.add(counts.chunksRepeated)
        metrics.fanOuts.chunksRejected.add(counts.chunksRejected)
        metrics.fanOuts.chunksDelayed.add(counts.chunksDelayed)
        metrics.registryFailures.add(counts.registryFailures)
    }

    func report(_ notice: FanOutPlanning.Notice) {
        switch notice {
        case .found(let fanOut):
            logger.log(.info, "fanout.found", fields(of: fanOut) + [.field("state", fanOut.state.rawValue)])
        case .planning(let fanOut):
            logger.log(
                .info, "fanout.planning", fields(of: fanOut) + [.field("chunksPlanned", fanOut.chunksPlanned)])
        case .planned(let fanOut):
            logger.log(
                .info, "fanout.planned",
                fields(of: fanOut) + [
                    .field("state", fanOut.state.rawValue), .field("chunks", fanOut.chunksPlanned),
                    .field("devices", fanOut.devicesPlanned),
                ])
        case .failed(let fanOut, let error): reportPlanning(error, fields(of: fanOut))
        case .beginningFailed(let event, let error):
            reportPlanning(error, [.field("source", event.source), .field("id", event.identifier)])
        case .unavailable(let error):
            logger.log(
                .warning, "fanout.unavailable",
                [
                    .field("message", error.message),
                    .field("advice", "Large audiences are served page by page until the registry can be written."),
                ])
        }
        metrics.fanOuts.planning.set(machine.planCount)
    }

    func count(_ counts: FanOutPlanning.Counts) {
        metrics.fanOuts.planned.add(counts.planned)
        metrics.fanOuts.redelivered.add(counts.found)
        metrics.fanOuts.chunksPlanned.add(counts.chunksPlanned)
        metrics.registryFailures.add(counts.registryFailures)
        metrics.fanOuts.planning.set(machine.planCount)
    }

    private func reportPlanning(_ error: RegistryError, _ fields: [LogField]) {
        logger.log(
            error.code == .unavailable ? .warning : .error, "fanout.planning.failed",
            fields + [.field("code", error.code.rawValue), .field("message", error.message)])
    }

    private func fields(of fanOut: FanOut) -> [LogField] {
        [
            .field("fanout", Int(fanOut.number)), .field("source", fanOut.event.source),
            .field("id", fanOut.event.identifier),
        ]
    }
}
