import Notifications
import RegistryCore

extension SchemaConformance {
    static let addressChecks = [
        SchemaConformance("Addresses that need a migration say so, and all others do without") { store in
            try store.makeFirstRegistry()
            let registry = try store.open(.readWrite, store.released)
            let old = try oldDevices()
            try registry.upsert(old)
            let new = try newDevices()
            for device in new {
                try store.expectRefusal(.olderSchema, mentioning: "apus registry migrate") {
                    try registry.upsert([device])
                }
            }
            try RegistryConformance.expect(
                try registry.devices(matching: DeviceFilter(), after: nil, limit: 9), is: old, "the devices")
            try store.migrate(up: nil, store.released)
            // The same connection, without a restart.
            try registry.upsert(new)
            try RegistryConformance.expect(
                try registry.devices(matching: DeviceFilter(), after: nil, limit: 9), is: old + new, "all devices")
        },
        SchemaConformance("The way down takes the devices that programs before cannot reach, and no others") { store in
            let registry = try store.open(.create, store.released)
            try registry.upsert(try oldDevices() + newDevices())
            try store.migrate(down: AddressKey.schemaVersion - 1, store.released)
            try RegistryConformance.expect(
                try registry.devices(matching: DeviceFilter(), after: nil, limit: 9), is: try oldDevices(), "devices")
        },
        SchemaConformance("Programs of the first schema find no number of a platform that they do not know") { store in
            let registry = try store.open(.create, store.released)
            try registry.upsert(try oldDevices() + newDevices())
            try store.execute("CREATE TABLE known (platform INTEGER NOT NULL CHECK (platform BETWEEN 0 AND 3))")
            try store.execute("INSERT INTO known SELECT platform FROM device")
        },
        SchemaConformance("The view of devices shows every platform by its name, and text as text") { store in
            let registry = try store.open(.create, store.released)
            let devices = try oldDevices() + newDevices()
            try registry.upsert(devices)
            let lines = devices.map { device in
                "'\(device.deviceID) \(device.platform.rawValue) \(device.token.text(for: device.platform))'"
            }
            try store.execute(
                "CREATE TABLE shown (line TEXT NOT NULL CHECK (line IN (\(lines.joined(separator: ", ")))))")
            try store.execute(
                """
                INSERT INTO shown SELECT device_id || ' ' || platform || ' '
                    || CASE WHEN platform IN ('APNS', 'WEB') THEN lower(token) ELSE token END FROM registered_device
                """)
            try store.execute("CREATE TABLE counted (number INTEGER NOT NULL CHECK (number = \(devices.count)))")
            try store.execute("INSERT INTO counted SELECT count(*) FROM shown")
        },
        SchemaConformance("A device that has lost its address is called damaged by its name") { store in
            let registry = try store.open(.create, store.released)
            try registry.upsert(try oldDevices() + newDevices())
            try store.execute("DELETE FROM device_address")
            try store.expectRefusal(.corrupt, mentioning: "\"new-4\" has lost its address") {
                _ = try registry.device("new-4")
            }
            try RegistryConformance.expect(try registry.removeDevice("new-4"), is: true, "it can be removed")
        },
    ]

    /// Devices whose addresses programs of the first schema know.
    private static func oldDevices() throws -> [Device] {
        try devices(
            "old",
            [
                (.apns, try SampleAddress.make(.apns, "a", bytes: 256)),
                (.courier, try SampleAddress.make(.courier, "c")),
                (.gcm, try SampleAddress.make(.gcm, "g", bytes: 256)),
            ])
    }

    /// Devices whose addresses they do not know.
    private static func newDevices() throws -> [Device] {
        try devices(
            "new",
            [
                (.adm, try SampleAddress.make(.adm, "m")), (.adm, try SampleAddress.make(.adm, "m", bytes: 1_000)),
                (.gcm, try SampleAddress.make(.gcm, "g", bytes: 257)),
                (.gcm, try SampleAddress.make(.gcm, "f", isInstallationID: true)),
                (.webPush, try SampleAddress.make(.webPush, "w", expiresAtMilliseconds: 1_900_000_000_000)),
            ])
    }

    private static func devices(_ name: String, _ addresses: [(Platform, DeviceToken)]) throws -> [Device] {
        // The new ones come behind the old ones in a list.
        try addresses.enumerated().map { number, address in
            var device = try RegistryConformance.device("\(name == "old" ? "a-" : "")\(name)-\(number)")
            device.platform = address.0
            device.token = address.1
            return device
        }
    }
}
