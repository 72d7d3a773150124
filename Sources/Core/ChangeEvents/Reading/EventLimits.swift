/// The limits of a single event: everything that a publisher controls has a bound.
public enum EventLimits {
    /// The size of a message's body, in bytes.
    public static let bodyBytesMaximum = 4 * 1024 * 1024
    /// How many arrays and objects may lie in each other; an empty innermost one does not count.
    public static let depthMaximum = 64
    /// The length of an event's `id`, in bytes: that of AMQP's `message_id`, so that it fits in every encoding.
    static let identifierBytesMaximum = 255
    /// The length of an event's `source`, in bytes.
    public static let sourceBytesMaximum = 1024
    /// The length of the name of an app, a topic, a user, an identity or a device, in bytes.
    public static let nameBytesMaximum = 256
    /// How many tokens, devices, identities or users one `push.requested` may name; more of them are several events.
    public static let targetsMaximum = 10_000
    /// How many dataset names one `datasets.merged` may list.
    static let mergedDatasetsMaximum = 1000
    /// How many keys of its own a notification may have; APNs takes 4096 bytes, into which not even these fit.
    public static let customKeysMaximum = 512
    /// The length of a collapse identifier, in bytes (Apple, "Sending notification requests to APNs").
    static let collapseIDBytesMaximum = 64
    /// The length of a campaign's name, in bytes: a derived one has a prefix and a name of a dataset or subscription.
    public static let campaignNameBytesMaximum = 320
}
