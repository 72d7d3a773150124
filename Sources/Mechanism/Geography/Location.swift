internal import Glibc

/// A place on the Earth, in degrees.
public struct Location: Hashable, Sendable, BitwiseCopyable {
    /// Degrees north of the equator, -90 to 90.
    public var latitude: Double
    /// Degrees east of Greenwich, -180 to 180.
    public var longitude: Double

    /// The mean radius of the Earth in metres (IUGG).
    public static let earthRadiusMetres = 6_371_008.8

    /// Creates a location; nil if a degree is outside its range or no number.
    public init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        // A negative zero is the same place as zero and must look the same.
        self.latitude = latitude == 0 ? 0 : latitude
        self.longitude = longitude == 0 ? 0 : longitude
    }

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
