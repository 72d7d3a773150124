/// How many devices a part of an audience has, and where the next part begins.
public struct AudienceExtent: Hashable, Sendable {
    /// How many devices there are.
    public var deviceCount: Int
    /// Where to go on; nil if these were the last.
    public var next: AudienceCursor?

    /// Describes a part.
    public init(deviceCount: Int, next: AudienceCursor? = nil) {
        self.deviceCount = deviceCount
        self.next = next
    }
}
