public import Notifications

/// A page of an audience, each device with the token that the event's push goes to.
public struct AddressedPage: Sendable {
    /// The devices that have such a token, and where the next page begins.
    public var page: AudiencePage
    /// How many devices or tokens are left out, because the push could not be for them.
    public var leftOutCount = 0
    /// Why the event cannot be acted on, if nothing of its whole audience has such a token.
    public var rejection: EventRejection?

    /// Creates a page of devices that are as they were found.
    public init(_ page: AudiencePage) { self.page = page }

    /// Gives each device the token of its place in a list, and leaves out those that get none.
    public mutating func address(_ token: (Recipient) -> Recipient?) {
        let found = page.devices
        page.devices = found.compactMap(token)
        leftOutCount += found.count - page.devices.count
    }
}
