/// How a push is to be sent, as its event asks; nil where the event leaves it to us.
public struct PushOptions: Hashable, Sendable {
    /// The kind; decided from the content if nil.
    public var pushType: PushType?
    /// The priority; decided from the kind if nil.
    public var priority: PushPriority?
    /// Until when the push is of use, in seconds since 1970; 0 is "now or never".
    public var expirationSeconds: Int64?
    /// Pushes with the same identifier replace each other on the device; at most 64 bytes.
    public var collapseID: String?

    /// Creates options.
    public init(
        pushType: PushType? = nil, priority: PushPriority? = nil, expirationSeconds: Int64? = nil,
        collapseID: String? = nil
    ) {
        self.pushType = pushType
        self.priority = priority
        self.expirationSeconds = expirationSeconds
        self.collapseID = collapseID
    }
}
