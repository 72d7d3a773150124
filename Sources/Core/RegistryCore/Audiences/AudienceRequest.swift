public import ChangeEvents

/// One question to the registry: an audience, or the part of it that is still to be served.
public struct AudienceRequest: Hashable, Sendable {
    /// The audience to find.
    public var audience: Audience
    /// The device that made the change and is left out.
    public var excludedDeviceID: String?
    /// If given, only these devices of the audience, for a retry.
    public var onlyDeviceIDs: [String]?
    /// Where the last page ended; nil for the first.
    public var cursor: AudienceCursor?
    /// The last position that is asked for; nil for the end of the audience.
    public var through: AudienceCursor?
    /// If given, only devices that were in the audience before the fan-out of this number began.
    ///
    /// It does not apply to audiences that are a list of devices or tokens, which the event itself gives.
    public var asOfFanOut: Int64?

    /// Creates a request for the first page of a whole audience, unless told otherwise.
    public init(
        audience: Audience, excludedDeviceID: String? = nil, onlyDeviceIDs: [String]? = nil,
        cursor: AudienceCursor? = nil, through: AudienceCursor? = nil, asOfFanOut: Int64? = nil
    ) {
        self.audience = audience
        self.excludedDeviceID = excludedDeviceID
        self.onlyDeviceIDs = onlyDeviceIDs
        self.cursor = cursor
        self.through = through
        self.asOfFanOut = asOfFanOut
    }
}

/// Where a page of an audience ended: a position that survives a restart and a change of worker.
public struct AudienceCursor: Hashable, Sendable {
    /// A row of the registry, or an index into the event's own list.
    ///
    /// Its meaning is the registry's.
    public var position: Int64
    /// The subscription that `position` is a device of; 0 if the audience is not one of subscriptions.
    public var subscription: Int64

    /// Creates a cursor; a negative number, which no registry gives, counts as 0.
    public init(position: Int64, subscription: Int64 = 0) {
        self.position = max(0, position)
        self.subscription = max(0, subscription)
    }
}

/// Some of the devices of an audience, and where the next ones begin.
public struct AudiencePage: Hashable, Sendable {
    /// The devices, each once.
    public var devices: [Recipient]
    /// Where to go on; nil if these were the last.
    public var next: AudienceCursor?
    /// Whether the devices subscribed to a dataset by its name, so that the registry knows the dataset.
    ///
    /// It is false for an empty page, for a retry that names its devices, and for audiences that are no dataset.
    public var isOfKnownDataset = false

    /// Creates a page.
    public init(devices: [Recipient], next: AudienceCursor? = nil) {
        self.devices = devices
        self.next = next
    }
}

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
