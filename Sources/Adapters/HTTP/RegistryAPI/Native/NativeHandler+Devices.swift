import HTTPServer
import JSON
import Notifications
import RegistryCore

extension NativeHandler {
    private static let deviceNames = [
        "platform", "token", "target", "subscription", "applicationServerKey", "app", "identityPoolId", "identityId",
        "userId", "datasets", "topics", "tokens",
    ]

    // MARK: One device

    /// `putDevice`.
    func putDevice() throws(NativeProblem) -> HTTPResponse {
        let deviceID = values["deviceId"]
        let body = try body(Self.deviceNames)
        let device = try device(from: body, deviceID: deviceID)
        let registration = DeviceRegistration(
            device: device, datasetNames: try body.strings("datasets", countMaximum: Self.listMaximum),
            topics: try body.strings("topics", countMaximum: Self.listMaximum), tokens: try tokens(of: body))
        return try using { (registry) throws(RegistryError) in
            let addedCount = try registry.register([registration], keepsApps: token.app != nil)
            return try Self.response(addedCount > 0 ? 201 : 200, device, registry)
        }
    }

    private func device(from body: NativeBody, deviceID: String) throws(NativeProblem) -> Device {
        guard let appName = try body.string("app") ?? token.app else {
            throw NativeProblem(.invalid, "\"app\" is missing, and the token is for all apps.")
        }
        try NativeParameters.check("app", appName)
        let app = try requireApp(appName)
        let platformName = try body.required("platform")
        guard let platform = Platform(rawValue: platformName) else {
            let names = Platform.allCases.map(\.rawValue).joined(separator: ", ")
            throw NativeProblem(.invalid, "\"platform\" is one of \(names).")
        }
        let pool = try body.string("identityPoolId")
        if let pool, !app.identityPoolIDs.contains(pool), apps.contains(where: { $0.identityPoolIDs.contains(pool) }) {
            throw NativeProblem(.invalid, "\"identityPoolId\" is a pool of another app.")
        }
        return Device(
            deviceID: deviceID, platform: platform, token: try address(from: body, platform, app: app), app: app.name,
            identityPoolID: pool, identityID: try body.string("identityId"), userID: try body.string("userId"),
            registeredAtMilliseconds: context.nowMilliseconds)
    }

    /// `getDevice`.
    func getDevice() throws(NativeProblem) -> HTTPResponse {
        let device = try device()
        return try using { (registry) throws(RegistryError) in
            try Self.response(200, device, registry, datasetsAfter: request.query("datasetsAfter"))
        }
    }

    /// `deleteDevice`.
    func deleteDevice() throws(NativeProblem) -> HTTPResponse {
        let device = try device()
        _ = try using { (registry) throws(RegistryError) in try registry.removeDevice(device.deviceID) }
        return Self.done
    }

    /// `listDevices`.
    func listDevices() throws(NativeProblem) -> HTTPResponse {
        let (limit, last) = (try limit(), try nameAfter())
        var filter = DeviceFilter(
            app: token.app, identityID: request.query("identityId"), userID: request.query("userId"))
        if let app = request.query("app") { filter.app = try requireApp(app).name }
        // One more tells whether there is another page.
        let found = try using { [filter] (registry) throws(RegistryError) in
            try registry.devices(matching: filter, after: last, limit: limit + 1)
        }
        return Self.page("devices", found, limit: limit, next: \.deviceID) { device, writer in
            writer.beginObject()
            Self.write(device, to: &writer)
            writer.endObject()
        }
    }

    // MARK: Its badge

    /// `getBadge`.
    func getBadge() throws(NativeProblem) -> HTTPResponse {
        let device = try device()
        let badge = try using { (registry) throws(RegistryError) in try registry.badge(of: device.deviceID) }
        return Self.json { writer in
            writer.member("badge", badge ?? 0)
        }
    }

    /// `setBadge`.
    func setBadge() throws(NativeProblem) -> HTTPResponse {
        let body = try body(["badge"])
        guard let badge = try body.integer("badge", maximum: SubscriptionRules.badgeMaximum) else {
            throw NativeProblem(.invalid, "\"badge\" is missing.")
        }
        return try setBadge(badge)
    }

    /// `resetBadge`.
    func resetBadge() throws(NativeProblem) -> HTTPResponse { try setBadge(0) }

    private func setBadge(_ badge: Int) throws(NativeProblem) -> HTTPResponse {
        let device = try device()
        _ = try using { (registry) throws(RegistryError) in try registry.setBadge(badge, of: device.deviceID) }
        return Self.done
    }

    // MARK: JSON

    private static func response(
        _ status: Int, _ device: Device, _ registry: any ServedRegistry, datasetsAfter last: String? = nil
    ) throws(RegistryError) -> HTTPResponse {
        let details = try registry.details(of: device.deviceID)
        // They are in the order of their bytes.
        let names = details.datasets.datasetNames.drop { name in
            last.map { !$0.utf8.lexicographicallyPrecedes(name.utf8) } ?? false
        }
        return json(status) { writer in
            write(device, to: &writer)
            writer.object("tokens") { writer in
                for token in details.tokens { writer.member(dynamic: token.kind.rawValue, token.token.description) }
            }
            writer.array("datasets", texts: names.prefix(listMaximum))
            if names.count > listMaximum, let next = names.prefix(listMaximum).last {
                writer.member("nextDatasets", next)
            }
            writer.member("futureDatasets", details.datasets.includesFuture)
            writer.member("badge", details.badge)
        }
    }

    /// The members of a device, with only the beginning of its token: the whole one lets its holder push to it.
    private static func write(_ device: Device, to writer: inout JSONWriter) {
        for (name, value) in device.texts(token: device.token.excerpt(for: device.platform)) {
            writer.member(name, value)
        }
        writer.member("expiresAt", device.token.details?.expiresAtMilliseconds)
        writer.member("registeredAt", device.registeredAtMilliseconds)
    }
}
