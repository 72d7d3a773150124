public import ChangeEvents
public import DispatchCore
public import RegistryCore

/// Where the events of `POST /v1/events` go, and how many of them.
public struct EventPublishing: Sendable {
    /// The publisher with confirms, for the API's sole use.
    public var publisher: any MessagePublisher
    /// The exchange of change events.
    public var exchange: String
    /// The apps that the workers have, to check events; without any, an event's app is not looked at.
    public var apps: [PipelineConfiguration.App]
    /// The tables whose changed rows are events.
    public var sources: TableSources
    /// How many events a second each token may publish for long; for a moment four times as many.
    public var eventsPerSecondMaximum: Int
    /// Whether workers keep what became of events, so that an answer can tell where to ask.
    public var keepsHistory = false
    /// Knows which events the registry remembers, so that a key stands for one content; nil if it remembers none.
    public var memory: (any EventMemoryFollower)?

    /// Creates it.
    public init(
        publisher: any MessagePublisher, exchange: String, apps: [PipelineConfiguration.App],
        sources: TableSources = TableSources(), eventsPerSecondMaximum: Int
    ) {
        self.publisher = publisher
        self.exchange = exchange
        self.apps = apps
        self.sources = sources
        self.eventsPerSecondMaximum = eventsPerSecondMaximum
    }
}
