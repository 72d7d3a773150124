/// What a device of the load has to do with the changes of its identity.
enum DeviceRole: Sendable, Hashable {
    /// Makes the changes, and must not be told of them.
    case maker
    /// Is told of the changes.
    case reader
    /// Is registered and has subscribed to nothing.
    case bystander
    /// Is told of the changes, but the app is gone from it: APNs says so, and the worker prunes it.
    case gone
    /// Belongs to no identity, and waits for announcements.
    case crowd
}
