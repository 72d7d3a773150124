import ConnectionPool

/// The lanes of a route: pools of connections to the same endpoint that do not disturb each other.
///
/// APNs may lower the streams of a connection to one after a rejection, and cuts connections with many rejections
/// sooner. So pushes to tokens that were rejected lately travel on a connection of their own.
enum Lane: String, CaseIterable {
    /// For all pushes but those of the other.
    case main
    /// For pushes to tokens that were rejected lately; connects when there is one, and closes when it is idle.
    case quarantine

    /// The limits of the lane's pool, made from those of the route.
    func limits(of route: PoolLimits) -> PoolLimits {
        guard self == .quarantine else { return route }
        var limits = route
        limits.connections = 0
        limits.connectionsMaximum = 1
        return limits
    }
}
