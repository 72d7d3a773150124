/// A state of the registry file, as this connection can tell one from another without reading it.
struct FollowedVersion: Equatable {
    /// SQLite's `data_version`, which changes when another connection has committed.
    var data: Int64
    /// How often this connection has written.
    var ownWrites: Int
}
