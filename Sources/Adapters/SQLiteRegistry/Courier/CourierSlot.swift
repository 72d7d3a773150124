import PushCore

/// What is there for one token.
struct CourierSlot {
    /// Whether there is a device.
    var isKnown = false
    /// Whether it has been long since it was noted that the device asks.
    var isToBeNoted = false
    /// The row of the oldest message.
    var message: Int64?

    /// What to answer if there is no message, or another process was faster.
    var mail: CourierMail { isKnown ? .nothing : .unknown }
}
