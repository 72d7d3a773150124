import Dispatcher
import EventLoop
import LoadGenerator
import Notifications
import Predicates
import RegistryCore
import WorkerConfiguration

/// The devices of a load in the registry: made, taken or removed.
struct LoadDevices {
    private static let stepCount = 5_000

    let app: Configuration.App

    /// Registers the generated devices with everything that a plan needs of them.
    ///
    /// Devices of an earlier run are renewed, so they stay as many as there are.
    func register(_ plan: LoadPlan, in registry: any RegistryStore) throws {
        let progress = ProgressLine()
        let now = WallClock.nowMilliseconds()
        for start in stride(from: 0, to: plan.deviceCount, by: Self.stepCount) {
            let numbers = start..<min(plan.deviceCount, start + Self.stepCount)
            try registry.register(try numbers.map { try registration($0, plan, now: now) })
            if plan.has(.record) { _ = try registry.save(try numbers.map { try subscription($0, now: now) }) }
            progress.update("registered \(numbers.upperBound) of \(plan.deviceCount) devices")
        }
        progress.finish()
    }

    private func registration(_ number: Int, _ plan: LoadPlan, now: Int64) throws -> DeviceRegistration {
        guard let token = DeviceToken(hexadecimal: LoadNames.token(number)) else {
            throw CommandFailure(.software, "the token of device \(number) cannot be used")
        }
        let pool = plan.has(.dataset) ? app.identityPools.first : nil
        let isReader = plan.has(.fanOut) && number < plan.audience
        return DeviceRegistration(
            device: Device(
                deviceID: LoadNames.device(number), platform: .apns, token: token, app: app.name,
                identityPoolID: pool, identityID: pool.map { LoadNames.identity(number, pool: $0) },
                userID: LoadNames.user(number), registeredAtMilliseconds: now),
            datasetNames: pool == nil ? [] : [LoadNames.dataset],
            topics: isReader ? [LoadNames.topic(audience: plan.audience)] : [])
    }

    private func subscription(_ number: Int, now: Int64) throws -> RecordSubscription {
        var notification = NotificationInfo()
        notification.alertBody = "A record of apus load"
        return RecordSubscription(
            key: SubscriptionKey(
                app: app.name, owner: .device(LoadNames.device(number)), subscriptionID: LoadNames.dataset),
            recordType: LoadNames.recordType, predicate: try Predicate(parsing: "\(LoadNames.field) = \(number)"),
            firesOn: .created, notification: notification, savedAtMilliseconds: now)
    }

    /// Finds devices that the registry has.
    ///
    /// - Returns: the identifiers of at most `count` devices that APNs reaches.
    func existing(_ count: Int, in registry: any RegistryStore) throws -> [String] {
        var identifiers: [String] = []
        var last: String?
        while identifiers.count < count {
            let page = try registry.devices(matching: DeviceFilter(app: app.name), after: last, limit: 1_000)
            guard let end = page.last else { break }
            last = end.deviceID
            identifiers += page.filter { $0.platform.isAPNs && !$0.deviceID.hasPrefix(LoadNames.prefix) }.map(
                \.deviceID)
        }
        return Array(identifiers.prefix(count))
    }

    /// Removes all generated devices; their subscriptions go with them.
    ///
    /// - Returns: how many there were.
    func remove(from registry: any RegistryStore) throws -> Int {
        var count = 0
        let progress = ProgressLine()
        while true {
            // The names of all others come before or after those of this prefix.
            let page = try registry.devices(
                matching: DeviceFilter(app: app.name), after: LoadNames.prefix, limit: 1_000)
            let generated = page.filter { $0.deviceID.hasPrefix(LoadNames.prefix) }
            if generated.isEmpty { break }
            for device in generated where try registry.removeDevice(device.deviceID) { count += 1 }
            progress.update("removed \(count) devices")
        }
        progress.finish()
        return count
    }
}
