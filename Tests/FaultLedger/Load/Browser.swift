import WebPushSimulator

/// A browser of the population, which has subscribed at one of the simulated services.
struct Browser: Sendable, Hashable {
    /// The names of the services, in the order in which browsers are dealt out to them.
    static let origins = ServiceProfile.allCases.map(\.rawValue)

    /// Its number among the browsers.
    let number: Int

    /// The name of its push service.
    var origin: String { Self.origins[number % Self.origins.count] }

    /// The number of its subscription at that service.
    var index: Int { number / Self.origins.count }

    /// The name of its subscription at the simulator.
    var name: String {
        let digits = String(index)
        return "\(origin)-" + String(repeating: "0", count: max(0, 7 - digits.count)) + digits
    }
}
