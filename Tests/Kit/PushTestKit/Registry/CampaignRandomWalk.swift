import Notifications
public import RegistryCore

/// Counts the same random pushes and opens in a registry and in the in-memory one, which looks at one after the other,
/// and compares every answer.
///
/// Pushes and opens come from small sets and in random batches, so that most are told several times.
public struct CampaignRandomWalk {
    /// The ports of a registry that walks.
    public typealias Store = CampaignRegistry & Registry & SubscriptionRegistry

    private let registry: any Store
    private let oracle = InMemoryRegistry()
    private let seed: UInt64
    private var generator: SeededGenerator
    private var step = 0

    /// Begins a walk.
    ///
    /// - Parameters:
    ///   - registry: an empty registry.
    ///   - seed: repeats the walk.
    public init(_ registry: any Store, seed: UInt64) {
        self.registry = registry
        self.seed = seed
        generator = SeededGenerator(seed: seed)
    }

    /// Walks.
    ///
    /// - Parameter steps: how many things to do.
    /// - Throws: `RegistryViolation` with seed and step if an answer differs.
    public mutating func run(steps: Int) throws {
        for number in 0..<steps {
            step = number
            switch Int.random(in: 0..<20, using: &generator) {
            case 0...6: try countPushes()
            case 7...10: try countOpens()
            case 11...13: try register()
            case 14: try removeOrErase()
            case 15: try forget()
            default: try read()
            }
        }
        try read()
    }

    private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    /// A time that mostly goes on, some hours for a hundred steps.
    private mutating func now() -> Int64 {
        CampaignConformance.now + Int64(step * 36 + number(60)) * 60_000
    }

    /// The campaign of an event in an app; names that look the same are among them.
    private func campaign(_ event: Int, app: Int) -> CampaignKey {
        CampaignKey(app: "app\(app)", name: ["spring", "caf\u{e9}", "cafe\u{301}", "dataset:notes"][event % 4])
    }

    private mutating func countPushes() throws {
        let now = now()
        let pushes = (0..<number(40)).map { _ in
            let digest = number(60)
            return CampaignPush(
                campaign: campaign(digest, app: digest % 3), platform: Platform.allCases[digest % 6],
                hour: now / 3_600_000 - Int64(number(6)) + 1, digest: Int64(digest) &* -7_046_029_254_386_353_131,
                endings: CampaignEndings(rawValue: UInt8(number(64) & number(64))))
        }
        try compare("count \(pushes.count) pushes") { try $0.countPushes(pushes, nowMilliseconds: now) }
    }

    /// A device whose name decides its app and its token.
    private mutating func device() throws -> Device {
        let number = number(8)
        var device = try RegistryConformance.device(
            "device-\(number)", app: "app\(number % 3)", identity: number % 2 == 0 ? "identity:\(number % 4)" : nil,
            user: number % 2 == 1 ? "user\(number % 4)" : nil)
        device.platform = [.apns, .apnsSandbox, .gcm, .webPush][number % 4]
        device.token = try SampleAddress.make(device.platform, "t\(number)")
        return device
    }

    private mutating func countOpens() throws {
        let now = now()
        let opens = try (0..<number(12)).map { _ in
            let device = try device()
            let event = number(10)
            let isWrong = number(8) == 0
            return CampaignOpen(
                campaign: campaign(
                    event, app: isWrong ? number(3) : device.app == "app0" ? 0 : device.app == "app1" ? 1 : 2),
                event: Array(repeating: UInt8(event), count: 16), deviceID: device.deviceID,
                token: number(8) == 0 ? try SampleAddress.make(.apns, "wrong") : device.token)
        }
        try compare("count \(opens.count) opens") { try $0.countOpens(opens, nowMilliseconds: now) }
    }

    private mutating func register() throws {
        let device = try device()
        try compare("register \(device.deviceID)") { registry in
            try registry.upsert([device])
            return true
        }
    }

    private mutating func removeOrErase() throws {
        let (name, number) = (try device().deviceID, number(4))
        switch self.number(3) {
        case 0: try compare("erase a user") { try $0.eraseUser("user\(number)") }
        case 1: try compare("erase an identity") { try $0.eraseIdentity("identity:\(number)") }
        default: try compare("remove \(name)") { try $0.removeDevice(name) }
        }
    }

    private mutating func forget() throws {
        let present = now() / 3_600_000
        let (hour, pushHour) = (present - Int64(number(30)), present - Int64(number(30)))
        let limit = 1 + number(20)
        try compare("forget before \(hour) and \(pushHour)") { registry in
            var count = 0
            while true {
                let step = try registry.forgetCampaigns(before: hour, pushesBefore: pushHour, limit: limit)
                count += step
                if step < limit { return count }
            }
        }
    }

    private mutating func read() throws {
        let app = number(2) == 0 ? nil : "app\(number(3))"
        try compare("campaigns") { registry in
            try registry.campaigns(app: app, before: nil, limit: 100).map { summary in
                // Only the order of the numbers is the same everywhere.
                var summary = summary
                summary.number = 0
                return summary
            }
        }
        let present = now() / 3_600_000
        let hours = present - Int64(number(40))...present
        for event in 0..<4 {
            for app in 0..<3 {
                let key = campaign(event, app: app)
                try compare("parts of \(key)") { try $0.campaignSlices(key, hours: hours) }
                try compare("sums of \(key)") { try $0.campaign(key)?.counts }
            }
        }
    }

    private func compare<Answer: Equatable>(_ what: String, _ body: (any Store) throws -> Answer) throws {
        let (found, expected) = (try body(registry), try body(oracle))
        guard found == expected else {
            throw RegistryViolation("seed \(seed), step \(step), \(what): expected \(expected), found \(found)")
        }
    }
}
