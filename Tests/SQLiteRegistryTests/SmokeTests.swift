import PushCore
import SQLiteRegistry
import Testing

@Test("A device that subscribed to a dataset is found by a change of it")
func findsSubscriber() throws {
    let folder = TemporaryFolder()
    let registry = try SQLiteRegistry.open(path: folder.file("registry.db"), mode: .create)
    let token = try #require(DeviceToken(bytes: [1, 2, 3]))
    let device = Device(
        deviceID: "d1", platform: .apns, token: token, app: "chat", identityPoolID: "p", identityID: "i",
        registeredAtMilliseconds: 5)
    try registry.upsert([device])
    try registry.subscribe("d1", toDataset: "settings")
    let key = DatasetKey(identityPoolID: "p", identityID: "i", datasetName: "settings")
    #expect(try registry.resolve([AudienceRequest(audience: .dataset(key))], limit: 10)[0].devices == [device])
}
