/// Some of the devices of an audience, and where the next ones begin.
public struct AudiencePage: Hashable, Sendable {
    /// The devices, each once.
    public var devices: [Recipient]
    /// Where to go on; nil if these were the last.
    public var next: AudienceCursor?

    /// Creates a page.
    public init(devices: [Recipient], next: AudienceCursor? = nil) {
        self.devices = devices
        self.next = next
    }
}
