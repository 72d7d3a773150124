internal import Glibc

/// A grid over the Earth, by which places within a circle are looked up.
///
/// At level n degrees of longitude and of latitude are each divided into 2^n equal parts. Cells get narrow towards the
/// poles; a circle there is covered by cells of a coarser level.
public enum GeographicGrid {
    /// The finest level: cells of 1.2 by 2.4 metres at the equator.
    public static let levelMaximum = 24

    /// The cell that a place lies in.
    public static func cell(of place: Location, level: Int) -> UInt64 {
        cell(column: column(place.longitude, level), row: row(place.latitude, level), level)
    }

    /// Few cells that together hold every place within a circle; places outside it, too.
    ///
    /// - Parameters:
    ///   - centre: the centre of the circle.
    ///   - radiusMetres: its radius along the surface; infinity is the whole Earth.
    ///   - countMaximum: how many cells at most.
    /// - Returns: the level of the cells, and the cells, each once.
    public static func cover(
        centre: Location, radiusMetres: Double, countMaximum: Int
    ) -> (level: Int, cells: [UInt64]) {
        guard let bounds = Bounds(centre: centre, radiusMetres: radiusMetres) else { return (0, [0]) }
        var level = levelMaximum
        while level > 0 {
            let rows = row(bounds.latitudes.lowerBound, level)...row(bounds.latitudes.upperBound, level)
            let columns = column(bounds.longitudes.lowerBound, level)...column(bounds.longitudes.upperBound, level)
            // Columns that go around the Earth would meet themselves.
            if columns.count < 1 << level, rows.count * columns.count <= countMaximum {
                return (level, rows.flatMap { row in columns.map { cell(column: $0, row: row, level) } })
            }
            level -= 1
        }
        return (0, [0])
    }

    /// Latitudes and longitudes between which a circle lies; longitudes may go beyond 180 degrees.
    private struct Bounds {
        var latitudes: ClosedRange<Double>
        var longitudes: ClosedRange<Double>

        /// Nil if the circle holds a pole, or so much of the Earth that no bounds are worth it.
        init?(centre: Location, radiusMetres: Double) {
            // Distances are rounded; a metre and a millionth is more than they can be wrong.
            let angle = (radiusMetres * 1.000_001 + 1) / Location.earthRadiusMetres
            let degrees = 180 / Double.pi
            guard angle.isFinite, abs(centre.latitude) + angle * degrees < 89.9 else { return nil }
            let width = asin(min(1, sin(angle) / cos(centre.latitude / degrees))) * degrees
            latitudes = centre.latitude - angle * degrees...centre.latitude + angle * degrees
            longitudes = centre.longitude - width...centre.longitude + width
        }
    }

    /// The column of a longitude; west of -180 degrees and from 180 degrees on, beyond the grid.
    private static func column(_ longitude: Double, _ level: Int) -> Int {
        Int(((longitude + 180) / 360 * Double(1 << level)).rounded(.down))
    }

    private static func row(_ latitude: Double, _ level: Int) -> Int {
        min(max(0, Int(((latitude + 90) / 180 * Double(1 << level)).rounded(.down))), 1 << level - 1)
    }

    private static func cell(column: Int, row: Int, _ level: Int) -> UInt64 {
        let columnCount = 1 << level
        let column = ((column % columnCount) + columnCount) % columnCount
        return UInt64(row) << 32 | UInt64(column)
    }
}
