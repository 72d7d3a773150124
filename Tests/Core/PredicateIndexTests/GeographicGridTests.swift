import Geography
import PushTestKit
import Testing

@Suite("Grid over the Earth")
struct GeographicGridTests {
    private static let seeds = (0..<3).map { _ in UInt64.random(in: 0...UInt64.max) }

    @Test(
        "Every place within a circle lies in one of its cells, at the poles and at the date line, too", arguments: seeds
    )
    func coverHoldsTheCircle(seed: UInt64) throws {
        var world = IndexWorld(seed: seed)
        var inside = 0
        for _ in 0..<1_500 {
            let centre = SubscriptionIndexTests.place(&world)
            let radius = SubscriptionIndexTests.radius(&world)
            let cover = GeographicGrid.cover(centre: centre, radiusMetres: radius, countMaximum: 6)
            #expect(cover.cells.count <= 6)
            #expect(Set(cover.cells).count == cover.cells.count)
            let degrees = radius / 111_000
            for _ in 0..<8 {
                let latitude = centre.latitude + degrees * Double(world.number(-100...100)) / 100
                let longitude = centre.longitude + 2 * degrees * Double(world.number(-100...100)) / 100
                let wrapped = longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
                guard let place = Location(latitude: latitude, longitude: wrapped),
                    centre.distanceMetres(to: place) < radius
                else { continue }
                inside += 1
                let cell = GeographicGrid.cell(of: place, level: cover.level)
                #expect(cover.cells.contains(cell), "seed \(seed): \(place) within \(radius) m of \(centre)")
            }
        }
        #expect(inside > 1_000, "seed \(seed)")
    }

    @Test("A small circle has small cells")
    func coverIsTight() throws {
        let berlin = try #require(Location(latitude: 52.52, longitude: 13.405))
        #expect(GeographicGrid.cover(centre: berlin, radiusMetres: 500, countMaximum: 4).level > 12)
        #expect(GeographicGrid.cover(centre: berlin, radiusMetres: .infinity, countMaximum: 4).cells == [0])
    }
}
