import EventLoop
import Notifications
import PushCore

extension Pipeline {
    /// Reads all subscriptions to records, in steps between which the loop turns.
    ///
    /// - Parameter whenReady: called when they have all been read; not at all if the pipeline is drained before.
    func readSubscriptions(whenReady: @escaping () -> Void) {
        guard !isReadingStopped else { return }
        do throws(RegistryError) {
            if try follower.step() {
                reportIndex()
                health.set(.subscriptions, nil)
                health.set(.registry, nil)
                logger.log(
                    .info, "subscriptions.read",
                    [
                        .field("subscriptions", follower.count),
                        .field("distinctPredicates", follower.distinctPredicateCount),
                        .field("indexBytes", follower.memoryBytes),
                    ])
                return whenReady()
            }
            health.set(.subscriptions, "reads the subscriptions of the registry; \(follower.count) so far")
            loop.schedule(afterNanoseconds: 0) { [self] in readSubscriptions(whenReady: whenReady) }
        } catch {
            registryFailed(error)
            loop.schedule(afterNanoseconds: repeatDelayNanoseconds) { [self] in
                readSubscriptions(whenReady: whenReady)
            }
        }
    }
}
