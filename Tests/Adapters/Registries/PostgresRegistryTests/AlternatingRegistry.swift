import ChangeEvents
import Notifications
import RegistryCore

/// Two connections to one registry that take turns: what one has written, the other answers.
final class AlternatingRegistry: Registry {
    private let registries: [any Registry]
    private var count = 0

    init(_ first: any Registry, _ second: any Registry) { registries = [first, second] }

    private var next: any Registry {
        count += 1
        return registries[count % 2]
    }

    func resolve(_ requests: [AudienceRequest], limit: Int) throws(RegistryError) -> [AudiencePage] {
        try next.resolve(requests, limit: limit)
    }

    func measure(
        _ audience: Audience, after cursor: AudienceCursor?, limit: Int
    ) throws(RegistryError) -> AudienceExtent {
        try next.measure(audience, after: cursor, limit: limit)
    }

    func recordDatasets(_ datasets: [DatasetKey]) throws(RegistryError) { try next.recordDatasets(datasets) }

    func prune(_ deadTokens: [DeadToken]) throws(RegistryError) -> Int { try next.prune(deadTokens) }

    func saveTokens(_ tokens: [FurtherToken]) throws(RegistryError) { try next.saveTokens(tokens) }

    func removeToken(_ kind: TokenKind, of deviceID: String) throws(RegistryError) -> Bool {
        try next.removeToken(kind, of: deviceID)
    }

    func tokens(of deviceIDs: [String]) throws(RegistryError) -> [[FurtherToken]] { try next.tokens(of: deviceIDs) }

    func kinds(of tokens: [DeviceToken], app: String) throws(RegistryError) -> [RegisteredToken] {
        try next.kinds(of: tokens, app: app)
    }

    func hasTokens(_ kind: TokenKind, app: String) throws(RegistryError) -> Bool {
        try next.hasTokens(kind, app: app)
    }

    func register(_ registrations: [DeviceRegistration], keepsApps: Bool) throws(RegistryError) -> Int {
        try next.register(registrations, keepsApps: keepsApps)
    }

    func removeDevice(_ deviceID: String) throws(RegistryError) -> Bool { try next.removeDevice(deviceID) }

    func device(_ deviceID: String) throws(RegistryError) -> Device? { try next.device(deviceID) }

    func registrations(of deviceIDs: [String]) throws(RegistryError) -> [TokenRegistration?] {
        try next.registrations(of: deviceIDs)
    }

    func device(at token: DeviceToken, platform: Platform, app: String) throws(RegistryError) -> Device? {
        try next.device(at: token, platform: platform, app: app)
    }

    func devices(
        matching filter: DeviceFilter, after deviceID: String?, limit: Int
    ) throws(RegistryError) -> [Device] {
        try next.devices(matching: filter, after: deviceID, limit: limit)
    }

    func deviceCount() throws(RegistryError) -> Int { try next.deviceCount() }

    func subscribe(_ deviceID: String, toDataset datasetName: String) throws(RegistryError) {
        try next.subscribe(deviceID, toDataset: datasetName)
    }

    func unsubscribe(_ deviceID: String, fromDataset datasetName: String) throws(RegistryError) -> Bool {
        try next.unsubscribe(deviceID, fromDataset: datasetName)
    }

    func subscribeToAllDatasets(
        _ deviceID: String, names: [String]?, includingFuture: Bool
    ) throws(RegistryError) -> [String] {
        try next.subscribeToAllDatasets(deviceID, names: names, includingFuture: includingFuture)
    }

    func datasetSubscriptions(of deviceID: String) throws(RegistryError) -> DatasetSubscriptions {
        try next.datasetSubscriptions(of: deviceID)
    }

    func subscribe(_ deviceID: String, toTopic topic: String) throws(RegistryError) {
        try next.subscribe(deviceID, toTopic: topic)
    }

    func unsubscribe(_ deviceID: String, fromTopic topic: String) throws(RegistryError) -> Bool {
        try next.unsubscribe(deviceID, fromTopic: topic)
    }
}
