public import Essentials

/// The unit of fairness between large fan-outs: an app, or the identity pool of a dataset.
public struct FanOutFlow: Hashable, Sendable {
    /// The name of the app or of the identity pool.
    @ByBytes public var name: String
    /// The apps that its pushes go to, by their index in the configuration; empty if none is configured.
    public var apps: [Int]

    /// Names a flow.
    public init(name: String, apps: [Int]) {
        self.name = name
        self.apps = apps
    }
}

/// A delivery of the bulk lane: a chunk of a large fan-out, or a continuation.
///
/// A continuation is the rest of an audience that is served page by page. It is one page: the page after it is
/// published as a continuation of its own.
public struct FanOutDelivery: Hashable, Sendable {
    /// The delivery.
    public var tag: DeliveryTag
    /// The chunk; nil for a continuation.
    public var key: FanOutChunkKey?
    /// The flow that it belongs to.
    public var flow: FanOutFlow
    /// The position before its first page; nil for the start of the audience.
    public var cursor: AudienceCursor?

    /// Describes a delivery.
    public init(tag: DeliveryTag, key: FanOutChunkKey?, flow: FanOutFlow, cursor: AudienceCursor? = nil) {
        self.tag = tag
        self.key = key
        self.flow = flow
        self.cursor = cursor
    }
}
