/// One question to the registry: an audience, or the part of it that is still to be served.
public struct AudienceRequest: Hashable, Sendable {
    /// Whom to find.
    public var audience: Audience
    /// The device that made the change and is left out.
    public var excludedDeviceID: String?
    /// If given, only these devices of the audience: what a retry is for.
    public var onlyDeviceIDs: [String]?
    /// Where the last page ended; nil for the first.
    public var cursor: AudienceCursor?
    /// The last position that is asked for; nil for the end of the audience.
    public var through: AudienceCursor?
    /// If given, only those who were in the audience before the fan-out of this number began.
    ///
    /// It means nothing for audiences that are a list of devices or tokens: they are what the event says.
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
