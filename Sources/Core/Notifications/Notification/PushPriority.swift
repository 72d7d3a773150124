/// How eagerly a device is to be woken: the values of the header `apns-priority`.
public enum PushPriority: Int, CaseIterable, Sendable {
    /// At once.
    case immediate = 10
    /// When it suits the device's power.
    case conserving = 5
    /// Never wakes the device.
    case passive = 1
}
