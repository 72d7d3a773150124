import EventLoop
public import RegistryCore

/// The ports of a registry that the page needs.
public typealias PageRegistry = AuditRegistry & CampaignRegistry & DeadLetterRegistry & FanOutRegistry
    & OutcomeHistoryRegistry & PauseRegistry & Registry & SchemaRegistry & SubscriptionRegistry & WorkerReportRegistry

/// The page's connection to the registry, on a loop of its own; it is opened when the page is first used.
final class PageStore: Sendable {
    /// The state of the loop.
    private final class Holder {
        let open: @Sendable () throws(RegistryError) -> any PageRegistry
        private var registry: (any PageRegistry)?

        init(open: @escaping @Sendable () throws(RegistryError) -> any PageRegistry) { self.open = open }

        func opened() throws(RegistryError) -> any PageRegistry {
            if let registry { return registry }
            let opened = try open()
            registry = opened
            return opened
        }
    }

    /// Where the registry is used.
    let loop: EventLoop
    private let holder: LoopBound<Holder>

    init(loop: EventLoop, open: @escaping @Sendable () throws(RegistryError) -> any PageRegistry) {
        self.loop = loop
        holder = LoopBound(Holder(open: open), to: loop)
    }

    /// Uses the registry on its loop.
    func run<Value: Sendable>(_ body: @escaping @Sendable (any PageRegistry) throws -> Value) async throws -> Value {
        try await loop.run { [holder] in try body(try holder.value.opened()) }
    }
}
