/// One question to the registry: the devices of some subscriptions, or those among them that are still to be served.
public struct SubscriberRequest: Hashable, Sendable {
    /// The rows of the subscriptions, in ascending order, each once; those before `cursor` and behind `through` have no
    /// devices to be found, but may cover some.
    public var subscriptions: [Int64]
    /// If given, only these: what a retry is for.
    public var only: [Subscriber]?
    /// The device that made the change and is left out.
    public var excludedDeviceID: String?
    /// Where the last page ended; nil for the first.
    public var cursor: AudienceCursor?
    /// The last position that is asked for; nil for the end.
    public var through: AudienceCursor?
    /// If given, only devices that were their owner's before the fan-out of this number began.
    public var asOfFanOut: Int64?

    /// Creates a request for the first page, unless told otherwise.
    public init(
        subscriptions: [Int64], only: [Subscriber]? = nil, excludedDeviceID: String? = nil,
        cursor: AudienceCursor? = nil, through: AudienceCursor? = nil, asOfFanOut: Int64? = nil
    ) {
        self.subscriptions = subscriptions
        self.only = only
        self.excludedDeviceID = excludedDeviceID
        self.cursor = cursor
        self.through = through
        self.asOfFanOut = asOfFanOut
    }

    /// Whether a subscription is among those asked for.
    func concerns(_ row: Int64) -> Bool {
        var range = subscriptions[...]
        while let first = range.first {
            let middle = range.startIndex + range.count / 2
            if subscriptions[middle] == row { return true }
            if first > row { return false }
            range = subscriptions[middle] < row ? range[(middle + 1)...] : range[..<middle]
        }
        return false
    }
}
