import ChangeEvents
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry

/// Decodes an event.
final class DecodeWork: CountedWork {
    private let decoder = EventDecoder()
    private let message = TestEvents.message(MicroScenario.changedDataset)

    func perform(_ count: Int) throws {
        for _ in 0..<count { _ = try decoder.decode(message) }
    }
}

/// Renders the push of a changed dataset.
final class RenderWork: CountedWork {
    private var builder = PushContentBuilder(bundleID: Workbench.bundleID)
    private let change = DatasetChange(
        operation: .changed, key: RegisteredDevice.dataset(1), syncCount: 42, deviceID: nil)

    func perform(_ count: Int) throws {
        for _ in 0..<count { _ = try builder.content(of: change, expirationSeconds: nil) }
    }
}

/// Looks devices up in SQLite, all over the registry.
final class LookUpWork: CountedWork {
    private let registry: SQLiteRegistry
    private let batch: Int
    private var next = 0

    /// Opens a registry.
    ///
    /// - Parameters:
    ///   - path: its file.
    ///   - batch: how many devices one call of the registry looks up.
    /// - Throws: `RegistryError` if the file is no registry.
    init(registry path: String, batch: Int) throws {
        registry = try SQLiteRegistry.open(path: path, mode: .readWrite)
        self.batch = batch
    }

    func perform(_ count: Int) throws {
        for _ in 0..<count / batch {
            let requests = (0..<batch).map { _ in
                next = (next + 7_919) % InstructionRegistry.devices
                return AudienceRequest(audience: .dataset(RegisteredDevice.dataset(next)))
            }
            let pages = try registry.resolve(requests, limit: 250)
            guard pages.allSatisfy({ $0.devices.count == 1 }) else {
                throw BenchmarkFailure(description: "a device of the registry was not found")
            }
        }
    }
}

/// The registry of all parts: some devices with an identity each, and an identity with many.
enum InstructionRegistry {
    static let devices = Scale.of(10_000, small: 500)
    /// The number of the identity that has many devices.
    static let crowd = devices

    /// Makes the file.
    static func make(at path: String) throws {
        let registry = try SQLiteRegistry.open(path: path, mode: .create)
        let all = (0..<devices + PipelineWork.crowdDevices).map { registration($0, identity: min($0, crowd)) }
        for start in stride(from: 0, to: all.count, by: 1_000) {
            try registry.register(Array(all[start..<min(all.count, start + 1_000)]))
        }
    }

    private static func registration(_ index: Int, identity: Int) -> DeviceRegistration {
        guard let token = DeviceToken(hexadecimal: TestDevices.token(index)) else {
            preconditionFailure("64 digits are a token")
        }
        let device = Device(
            deviceID: TestDevices.name(index), platform: .apns, token: token, app: "chat",
            identityPoolID: TestEvents.pool, identityID: TestDevices.identity(identity),
            registeredAtMilliseconds: PipelineDrive.startMilliseconds)
        return DeviceRegistration(device: device, datasetNames: ["notes"])
    }
}
