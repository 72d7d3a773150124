internal import Glibc

extension Location {
    /// The distance to another place along the surface, in metres: the great circle of a sphere (haversine), which is
    /// within 0.6 % of the ellipsoid.
    public func distanceMetres(to other: Location) -> Double {
        let radians = Double.pi / 180
        let latitudeSine = sin((other.latitude - latitude) * radians / 2)
        let longitudeSine = sin((other.longitude - longitude) * radians / 2)
        let part =
            latitudeSine * latitudeSine
            + cos(latitude * radians) * cos(other.latitude * radians) * longitudeSine * longitudeSine
        return 2 * Self.earthRadiusMetres * asin(min(1, part.squareRoot()))
    }
}
