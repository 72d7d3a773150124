public import ChangeEvents
public import DispatchCore

/// Where the events of `POST /v1/events` go, and how many of them.
public struct EventPublishing: Sendable {
    /// The publisher with confirms, for the API's sole use.
    public var publisher: any MessagePublisher
    /// The exchange of change events.
    public var exchange: String
    /// The apps that the workers have, to check events; without any, an event's app is not looked at.
    public var apps: [PipelineConfiguration.App]
    /// How many events a second each token may publish for long; for a moment four times as many.
    public var eventsPerSecondMaximum: Int

    /// Creates it.
    public init(
        publisher: any MessagePublisher, exchange: String, apps: [PipelineConfiguration.App],
        eventsPerSecondMaximum: Int
    ) {
        self.publisher = publisher
        self.exchange = exchange
        self.apps = apps
        self.eventsPerSecondMaximum = eventsPerSecondMaximum
    }
}
