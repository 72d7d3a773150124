import PushTestKit
import Testing

@testable import CapacityModel

@Suite("The capacity model")
struct CapacityPlanTests {
    /// Loads of all sizes, from nothing to more than anything that exists.
    private static func load(_ random: inout SeededGenerator) -> CapacityLoad {
        func size() -> Double {
            let exponent = Int.random(in: 0...15, using: &random)
            return (0..<exponent).reduce(Double.random(in: 0..<10, using: &random)) { value, _ in value * 10 }
        }
        var load = CapacityLoad(devices: size(), eventsPerSecond: size())
        load.audience = max(1, size())
        load.roundTripMilliseconds = .random(in: 0...1_000, using: &random)
        load.deadShare = .random(in: 0...1, using: &random)
        load.payloadBytes = .random(in: 1...5_120, using: &random)
        load.outageSeconds = size()
        load.predicates = size()
        load.registry = Bool.random(using: &random) ? .sqlite : .postgresql
        return load
    }

    /// The changes that make a load grow.
    private static let growing: [@Sendable (inout CapacityLoad) -> Void] = [
        { $0.devices *= 2 }, { $0.eventsPerSecond *= 2 }, { $0.audience *= 2 }, { $0.roundTripMilliseconds *= 2 },
        { $0.deadShare = min(1, $0.deadShare * 2) }, { $0.payloadBytes *= 2 }, { $0.outageSeconds *= 2 },
        { $0.predicates *= 2 },
    ]

    @Test("No figure falls when a load grows, except the processor time of one push")
    func monotone() {
        var random = SeededGenerator(seed: 17)
        for _ in 0..<2_000 {
            let load = Self.load(&random)
            let plan = CapacityPlan(for: load)
            for grow in Self.growing {
                var larger = load
                grow(&larger)
                let more = CapacityPlan(for: larger)
                for figure in plan.figures where figure.name != "microsecondsPerPush" {
                    // Rounding of floating point may move a sum by its last digit.
                    #expect(more[figure.name] >= figure.value * (1 - 1e-12), "\(figure.name) of \(load)")
                }
            }
        }
    }

    @Test("A plan has as much of everything as its load takes")
    func enough() {
        var random = SeededGenerator(seed: 4)
        let coefficients = CapacityCoefficients()
        for _ in 0..<2_000 {
            let load = Self.load(&random)
            let plan = CapacityPlan(for: load)
            let pushes = load.eventsPerSecond * load.audience
            let rounding = 1 - 1e-9
            #expect(plan["cores"] >= pushes * plan.microsecondsPerPush / 1e6 * rounding)
            #expect(plan["workers"] >= 1)
            #expect(plan["workers"] * coefficients.coresPerWorker >= plan["cores"] * rounding)
            let inFlight = pushes * load.roundTripMilliseconds / 1_000
            #expect(plan["connections"] * coefficients.streamsPerConnection >= inFlight * rounding)
            #expect(plan["connections"] >= plan["workers"])
            #expect(plan["workers"] * coefficients.connectionsPerWorker >= plan["connections"] * rounding)
            #expect(plan["queues"] * coefficients.eventsPerSecondOfQueue >= load.eventsPerSecond * rounding)
        }
    }

    @Test(
        "Numbers out of range count as the nearest in range, and none is a trap",
        arguments: [-1, 0, .infinity, -Double.infinity, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
            as [Double])
    func extremes(value: Double) {
        var load = CapacityLoad(devices: value, eventsPerSecond: value)
        load.audience = value
        load.roundTripMilliseconds = value
        load.deadShare = value
        load.payloadBytes = value
        load.outageSeconds = value
        load.predicates = value
        let plan = CapacityPlan(for: load)
        #expect(plan["workers"] >= 1)
        #expect(plan.figures.allSatisfy { !$0.value.isNaN && $0.value >= 0 })
        #expect(plan.figures.allSatisfy { !CapacityText.bytes($0.value).isEmpty })
    }

    @Test("The limit is the processor for near pushes, the way for far ones, and nothing for few")
    func limits() {
        var load = CapacityLoad(devices: 1e6, eventsPerSecond: 1_000)
        #expect(CapacityPlan(for: load).limit.hasPrefix("nothing"))
        load.eventsPerSecond = 500_000
        load.roundTripMilliseconds = 1
        #expect(CapacityPlan(for: load).limit == "the workers' processor time")
        load.roundTripMilliseconds = 1_000
        #expect(CapacityPlan(for: load).limit.hasPrefix("the way to APNs"))
    }

    @Test(
        "Numbers are shown in groups of three digits, and bytes with a unit",
        arguments: [
            (0, "0", "0 B"), (999, "999", "999 B"), (2.5, "2.5", "2.5 B"), (1_024, "1 024", "1 KiB"),
            (1_234_567, "1 234 567", "1.18 MiB"), (1e30, "1e+30", "888 178 419 700 126 PiB"),
        ] as [(Double, String, String)])
    func texts(value: Double, number: String, bytes: String) {
        #expect(CapacityText.number(value) == number)
        #expect(CapacityText.bytes(value) == bytes)
    }
}
