import EventLoop
import Notifications
import PushCore

/// Brings what the adapters report, on their threads, to the pipeline's loop: one submission for each batch.
final class PipelineInbox: DeliveryHandler, PublishHandler, PushTransportHandler {
    private let pipeline: LoopBound<Pipeline>

    init(_ pipeline: LoopBound<Pipeline>) { self.pipeline = pipeline }

    func deliveriesReceived(_ deliveries: [Delivery]) {
        pipeline.loop.submit { [pipeline] in pipeline.value.deliveriesReceived(deliveries) }
    }

    func sourceStateChanged(_ state: DeliverySourceState) {
        pipeline.loop.submit { [pipeline] in pipeline.value.sourceStateChanged(state) }
    }

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        pipeline.loop.submit { [pipeline] in pipeline.value.publishesEnded(outcomes) }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        pipeline.loop.submit { [pipeline] in pipeline.value.publisherStateChanged(isReady: isReady, reason: reason) }
    }

    func registryAnswered(_ number: UInt64, _ result: Result<RegistryAnswer, RegistryError>) {
        pipeline.loop.submit { [pipeline] in pipeline.value.registryAnswered(number, result) }
    }

    func routesChanged(_ changes: [RouteChange]) {
        pipeline.loop.submit { [pipeline] in pipeline.value.routesChanged(changes) }
    }

    func pushesEnded(_ results: [PushResult]) {
        pipeline.loop.submit { [pipeline] in pipeline.value.pushesEnded(results) }
    }
}
