public import ChangeEvents

/// Everything that an operator can decide, read and checked.
///
/// Each key comes from the first of: `--set`, the environment, the file, the default. See `ConfigurationLoader`.
public struct Configuration: Hashable, Sendable {
    /// The section `[rabbitmq]`.
    public var rabbitMQ: RabbitMQ
    /// Where the registry is, of the section `[registry]`.
    public var registry: RegistryLocation
    /// How the registry is served, of the section `[registry]`.
    public var registryAPI: RegistryAPI
    /// The section `[retry]`.
    public var retry: Retry
    /// The section `[fanout]`.
    public var fanOut: FanOut
    /// The section `[events]`, but for the history.
    public var events: Events
    /// What the section `[events]` says about the history of events.
    public var history: History
    /// The section `[admin]`.
    public var admin: Admin
    /// The section `[log]`.
    public var log: Log
    /// The section `[worker]`.
    public var worker: Worker
    /// The section `[outcomes]`.
    public var outcomes: Outcomes
    /// The section `[analytics]`.
    public var analytics: Analytics
    /// The section `[relay]`.
    public var relay: Relay
    /// The sections `[[source]]`, in order; tables are distinct.
    public var sources: [TableSource]
    /// The section `[webpush]`.
    public var webPush: WebPush
    /// The sections `[[app]]`, in order; names and identity pools are distinct.
    public var apps: [App]
}
