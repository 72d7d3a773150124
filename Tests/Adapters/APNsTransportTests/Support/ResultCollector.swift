import Notifications
import PushTestKit

/// Takes the results of a client, and lets a test wait for them.
final class ResultCollector: PushTransportHandler {
    let results = Watched<[PushResult]>([])

    func pushesEnded(_ results: [PushResult]) { self.results.update { $0 += results } }

    /// Waits for a number of results; answers what is there at the end of a hang.
    func wait(count: Int) async -> [PushResult] {
        _ = await results.wait { $0.count >= count }
        return results.value
    }

    /// The outcome of one push.
    func outcome(_ identifier: UInt64) -> PushOutcome? {
        results.value.first { $0.identifier == identifier }?.outcome
    }
}
