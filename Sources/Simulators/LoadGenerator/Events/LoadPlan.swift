import Essentials

/// The events of a run: the kind of each, its devices and the number of pushes that must come of it.
///
/// Everything about an event follows from its number, so nothing has to be remembered for a later comparison.
public struct LoadPlan: Sendable, Equatable {
    /// The kind of an event, which tells how its devices are found.
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// A requested push to one user with one device.
        case push
        /// A changed dataset of an identity with one device.
        case dataset
        /// A created record that one subscription matches.
        case record
        /// A requested push to a topic that many devices follow.
        case fanOut

        /// How reports call it.
        public var name: String {
            switch self {
            case .push: "one-to-one"
            case .dataset: "datasets"
            case .record: "records"
            case .fanOut: "fan-out"
            }
        }
    }

    /// Which kinds of events a run has.
    public enum Profile: String, CaseIterable, Sendable {
        /// Requested pushes, one device each.
        case oneToOne = "one-to-one"
        /// Changes of datasets, one device each.
        case datasets
        /// Records, each matched by the subscription of one device.
        case records
        /// Requested pushes to a topic.
        case fanOut = "fan-out"
        /// Sixty percent requested pushes, twenty datasets, nineteen records, one fan-out.
        case mixed
    }

    /// One event.
    public struct Event: Sendable, Equatable {
        /// The kind of event.
        public var kind: Kind
        /// The number of its device; for a fan-out that of the first.
        public var device: Int
        /// How many pushes must come of it.
        public var pushes: Int
    }

    /// Which kinds of events there are.
    public let profile: Profile
    /// How many devices there are, at least 1.
    public let deviceCount: Int
    /// How many devices a fan-out has.
    public let audience: Int
    /// Whether the app has an identity pool, without which there are no datasets.
    public let hasDatasets: Bool
    private let seed: UInt64

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - profile: which kinds of events there are.
    ///   - deviceCount: over how many devices the events are spread, in turns.
    ///   - audience: how many devices a fan-out has; at most `deviceCount`.
    ///   - hasDatasets: whether there can be datasets; a mixed run has requested pushes instead of them.
    ///   - seed: the seed of the mixture.
    public init(profile: Profile, deviceCount: Int, audience: Int, hasDatasets: Bool, seed: UInt64) {
        self.profile = profile
        self.deviceCount = max(1, deviceCount)
        self.audience = min(max(1, audience), self.deviceCount)
        self.hasDatasets = hasDatasets
        self.seed = seed
    }

    /// Whether any event is of a kind.
    public func has(_ kind: Kind) -> Bool {
        switch profile {
        case .oneToOne: kind == .push
        case .datasets: kind == .dataset
        case .records: kind == .record
        case .fanOut: kind == .fanOut
        case .mixed: kind != .dataset || hasDatasets
        }
    }

    /// The event of a number, from 0.
    public func event(_ number: Int) -> Event {
        let kind = kind(of: number)
        guard kind != .fanOut else { return Event(kind: kind, device: 0, pushes: audience) }
        return Event(kind: kind, device: number % deviceCount, pushes: 1)
    }

    private func kind(of number: Int) -> Kind {
        switch profile {
        case .oneToOne: return .push
        case .datasets: return .dataset
        case .records: return .record
        case .fanOut: return .fanOut
        case .mixed:
            var random = SplitMix(seed: seed &+ UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15)
            switch random.next() % 100 {
            case 0: return .fanOut
            case 1..<20: return .record
            case 20..<40: return hasDatasets ? .dataset : .push
            default: return .push
            }
        }
    }
}
