import Notifications
import PushTestKit

/// The devices of the benchmarks: number n belongs to identity n.
enum RegisteredDevice {
    static func dataset(_ index: Int) -> DatasetKey {
        DatasetKey(
            identityPoolID: TestEvents.pool, identityID: TestDevices.identity(index), datasetName: "notes")
    }

    /// A line for `apus device import`.
    static func line(_ index: Int, identity: Int) -> String {
        TestDevices.importLine(index, token: TestDevices.token(index), TestDevices.membership(identity))
    }

    /// The same for an Android, which FCM reaches.
    static func androidLine(_ index: Int, identity: Int) -> String {
        let (name, token) = (TestDevices.name(index), "device:" + TestDevices.token(index))
        return #"{"deviceId":"\#(name)","platform":"GCM","token":"\#(token)","app":"chat","#
            + TestDevices.membership(identity) + "}"
    }

    /// An event for `apus publish --file`.
    static func event(_ index: Int, syncCount: Int) -> String {
        TestEvents.datasetChanged(
            "\(index)-\(syncCount)", identity: TestDevices.identity(index), syncCount: syncCount)
    }

    /// A change of the dataset of a device, for a `BenchmarkLoad`.
    static func message(_ index: Int, syncCount: Int = 1) -> LoadMessage {
        LoadMessage(
            routingKey: "dataset.changed.\(TestDevices.identity(index))", body: event(index, syncCount: syncCount))
    }

    /// A request for a push to the devices of an identity, for `apus publish --file`.
    static func request(_ identifier: String, identity: Int) -> String {
        TestEvents.pushRequested(identifier, to: .identities([TestDevices.identity(identity)]))
    }
}
