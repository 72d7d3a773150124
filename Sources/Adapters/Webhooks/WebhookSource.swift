import ChangeEvents
import Synchronization

/// The source of the outcomes of one app, which is closed at most once.
///
/// Two parts may close it: the app's core when it posts nothing more, and the service at its end.
final class WebhookSource: Sendable {
    private let source: any MessageSource
    private let end = Mutex<Task<Void, Never>?>(nil)

    init(_ source: any MessageSource) { self.source = source }

    func start(handler: any DeliveryHandler) { source.start(handler: handler) }

    /// Acknowledges a delivery; after the end it comes again.
    func settle(_ tag: DeliveryTag) {
        end.withLock { end in
            if end == nil { source.settle([tag]) }
        }
    }

    /// Closes the source, and returns when it is closed.
    func close() async {
        let task = end.withLock { end in
            let task = end ?? Task { [source] in await source.close() }
            end = task
            return task
        }
        await task.value
    }
}
