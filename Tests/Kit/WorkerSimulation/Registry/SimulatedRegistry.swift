import ChangeEvents
import Notifications
import Predicates
import RegistryCore

/// The registry of the simulated world: the ports' answers follow from the numbers of devices and identities, so an
/// answer costs as much as its length.
///
/// It answers only the calls of a worker; every other call fails.
final class SimulatedRegistry {
    let world: World
    /// The present error of every call; nil if the registry answers.
    var failure: RegistryError?
    /// The present error of writing calls; nil if writing works.
    var writeFailure: RegistryError?
    /// Called for each device that a worker has removed.
    var pruned: (_ device: Int) -> Void = { _ in }
    var fanOuts = SimulatedFanOuts()
    /// The apps that an operator has paused.
    var pausedApps: Set<Int> = []
    /// The rows of subscriptions that changed, in order, for the workers' subscription indexes.
    var subscriptionLog: [Int64] = []

    /// Creates the registry of a world.
    init(world: World) { self.world = world }

    func check() throws(RegistryError) {
        if let failure { throw failure }
    }

    func checkWritable() throws(RegistryError) {
        try check()
        if let writeFailure { throw writeFailure }
    }

    /// The error of a call that no worker makes.
    var notSimulated: RegistryError { RegistryError(.failed, "No worker asks this.") }

    // MARK: Audiences

    /// Calls back with the registered members of an audience and their positions, in order, until told to stop.
    func forEachMember(_ audience: Audience, _ body: (_ position: Int64, _ device: Int) -> Bool) {
        switch audience {
        case .dataset(let key):
            guard let identity = World.number(of: key.identityID), identity < world.identityCount,
                let dataset = World.datasetNames.firstIndex(of: key.datasetName)
            else { return }
            for device in devices(ofIdentity: identity)
            where world.devices[device].isRegistered && World.follows(device: device, dataset: dataset) {
                guard body(Int64(device + 1), device) else { return }
            }
        case .topic(let name, let app):
            guard let topic = World.number(of: name), let app = world.appNames.firstIndex(of: app) else { return }
            for index in 0..<world.memberCount(topic: topic) {
                let device = world.device(ofApp: app, index: index)
                guard world.devices[device].isRegistered else { continue }
                guard body(Int64(device + 1), device) else { return }
            }
        case .devices(let names, let app):
            for (index, name) in first(names).enumerated() {
                guard let device = World.number(of: name), isRegistered(device, app) else { continue }
                guard body(Int64(index), device) else { return }
            }
        case .identities(let names, let app), .users(let names, let app):
            for (index, name) in first(names).enumerated() {
                guard let identity = World.number(of: name), identity < world.identityCount else { continue }
                for device in devices(ofIdentity: identity) where isRegistered(device, app) {
                    guard body(Int64(index) << 40 + Int64(device + 1), device) else { return }
                }
            }
        case .tokens: return
        }
    }

    private func devices(ofIdentity identity: Int) -> Range<Int> {
        identity * World.devicesPerIdentity..<(identity + 1) * World.devicesPerIdentity
    }

    private func isRegistered(_ device: Int, _ app: String) -> Bool {
        device < world.devices.count && world.devices[device].isRegistered
            && world.appNames[world.devices[device].app] == app
    }

    /// The names without those that occur again; lists are short.
    private func first(_ names: [String]) -> [String] {
        var unique: [String] = []
        for name in names where !unique.contains(name) { unique.append(name) }
        return unique
    }

    private func page(_ request: AudienceRequest, limit: Int) -> (devices: [Int], next: AudienceCursor?) {
        var devices: [Int] = []
        var last: Int64 = 0
        var next: AudienceCursor?
        let excluded = request.excludedDeviceID.flatMap { World.number(of: $0) }
        let only = request.onlyDeviceIDs.map { Set($0.compactMap { World.number(of: $0) }) }
        forEachMember(request.audience) { position, device in
            guard position > request.cursor?.position ?? -1, device != excluded else { return true }
            guard position <= request.through?.position ?? .max else { return false }
            if let fanOut = request.asOfFanOut, isMadeOfMembers(request.audience),
                world.devices[device].joined >= fanOut
            {
                return true
            }
            if let only, !only.contains(device) { return true }
            guard devices.count < limit else {
                next = AudienceCursor(position: last)
                return false
            }
            devices.append(device)
            last = position
            return true
        }
        return (devices, next)
    }

    private func isMadeOfMembers(_ audience: Audience) -> Bool {
        switch audience {
        case .devices, .tokens: false
        case .dataset, .topic, .identities, .users: true
        }
    }
}

extension SimulatedRegistry: Registry {
    func resolve(_ requests: [AudienceRequest], limit: Int) throws(RegistryError) -> [AudiencePage] {
        try check()
        return requests.map { request in
            let (devices, next) = page(request, limit: max(limit, 1))
            return AudiencePage(devices: devices.map { world.recipient($0) }, next: next)
        }
    }

    func measure(
        _ audience: Audience, after cursor: AudienceCursor?, limit: Int
    ) throws(RegistryError) -> AudienceExtent {
        try check()
        let (devices, next) = page(AudienceRequest(audience: audience, cursor: cursor), limit: max(limit, 1))
        return AudienceExtent(deviceCount: devices.count, next: next)
    }

    func recordDatasets(_ datasets: [DatasetKey]) throws(RegistryError) { try checkWritable() }

    func prune(_ deadTokens: [DeadToken]) throws(RegistryError) -> Int {
        try checkWritable()
        var removed = 0
        for dead in deadTokens where dead.kind == .alert {
            guard let (device, isPresent) = world.device(of: dead.token), isPresent else { continue }
            let known = world.devices[device]
            guard known.isRegistered, world.appNames[known.app] == dead.app, known.platform == dead.platform,
                known.registeredAtMilliseconds < dead.deadSinceMilliseconds ?? .max
            else { continue }
            world.devices[device].isRegistered = false
            removed += 1
            pruned(device)
        }
        return removed
    }

    func register(_ registrations: [DeviceRegistration], keepsApps: Bool) throws(RegistryError) -> Int {
        throw notSimulated
    }

    func removeDevice(_ deviceID: String) throws(RegistryError) -> Bool { throw notSimulated }

    func device(_ deviceID: String) throws(RegistryError) -> Device? { throw notSimulated }

    func device(at token: DeviceToken, platform: Platform, app: String) throws(RegistryError) -> Device? {
        throw notSimulated
    }

    func devices(
        matching filter: DeviceFilter, after deviceID: String?, limit: Int
    ) throws(RegistryError) -> [Device] { throw notSimulated }

    func deviceCount() throws(RegistryError) -> Int { world.devices.count { $0.isRegistered } }

    func subscribe(_ deviceID: String, toDataset datasetName: String) throws(RegistryError) { throw notSimulated }

    func unsubscribe(_ deviceID: String, fromDataset datasetName: String) throws(RegistryError) -> Bool {
        throw notSimulated
    }

    func subscribeToAllDatasets(
        _ deviceID: String, names: [String]?, includingFuture: Bool
    ) throws(RegistryError) -> [String] { throw notSimulated }

    func datasetSubscriptions(of deviceID: String) throws(RegistryError) -> DatasetSubscriptions { throw notSimulated }

    func subscribe(_ deviceID: String, toTopic topic: String) throws(RegistryError) { throw notSimulated }

    func unsubscribe(_ deviceID: String, fromTopic topic: String) throws(RegistryError) -> Bool { throw notSimulated }

    func registrations(of deviceIDs: [String]) throws(RegistryError) -> [TokenRegistration?] {
        try check()
        return deviceIDs.map { _ in nil }
    }
}

extension SimulatedRegistry: TokenRegistry {
    func saveTokens(_ tokens: [FurtherToken]) throws(RegistryError) { throw notSimulated }

    func removeToken(_ kind: TokenKind, of deviceID: String) throws(RegistryError) -> Bool { throw notSimulated }

    func tokens(of deviceIDs: [String]) throws(RegistryError) -> [[FurtherToken]] {
        try check()
        return deviceIDs.map { _ in [] }
    }

    func kinds(of tokens: [DeviceToken], app: String) throws(RegistryError) -> [RegisteredToken] {
        try check()
        return tokens.compactMap { token in
            guard let (device, isPresent) = world.device(of: token), isPresent, isRegistered(device, app) else {
                return nil
            }
            return RegisteredToken(token: token, kind: .alert, platform: world.devices[device].platform)
        }
    }

    func hasTokens(_ kind: TokenKind, app: String) throws(RegistryError) -> Bool {
        try check()
        return false
    }
}
