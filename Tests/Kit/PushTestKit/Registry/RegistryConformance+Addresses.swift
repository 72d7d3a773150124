import ChangeEvents
import Notifications
import RegistryCore

extension RegistryConformance {
    static let addressChecks = [
        RegistryConformance("An address of any platform and size comes back whole, wherever devices are read") {
            registry in
            let devices = try addresses().enumerated().map { number, address in
                try device("d\(100 + number)", address.platform, address.token)
            }
            try registry.upsert(devices)
            for device in devices {
                try expect(try registry.device(device.deviceID), is: device, "device")
                let found = try registry.device(at: device.token, platform: device.platform, app: "chat")
                try expect(found, is: device, "device by its address")
                let elsewhere = try registry.device(at: device.token, platform: device.platform, app: "mail")
                try expect(elsewhere, is: nil, "device by its address, in another app")
            }
            try expect(try registry.devices(matching: DeviceFilter(), after: nil, limit: 100), is: devices, "list")
            let names = devices.map(\.deviceID)
            for (audience, only) in [
                (Audience.users(["u"], app: "chat"), nil), (.users(["u"], app: "chat"), names),
                (.identities(["identity:1"], app: "chat"), nil), (.devices(names, app: "chat"), nil),
            ] {
                let request = AudienceRequest(audience: audience, onlyDeviceIDs: only)
                for limit in [3, 100] {
                    let recipients = try RegistryPages.all(of: request, in: registry, limit: limit)
                    try expect(recipients, is: devices.map { Recipient($0) }, "recipients by \(limit) of \(audience)")
                }
            }
            let rows = try registry.save([
                try SubscriptionConformance.subscription(SubscriptionConformance.key("s", user: "u"))
            ])
            let page = try registry.resolveSubscribers([SubscriberRequest(subscriptions: rows)], limit: 100)[0]
            try expect(page.entries.map(\.recipient), is: devices.map { Recipient($0) }, "subscribers")
        },
        RegistryConformance("An address belongs to one device of an app: the last that was registered with it") {
            registry in
            for (platform, token) in try addresses() {
                try registry.upsert([try device("old", platform, token)])
                var elsewhere = try device("other app", platform, token)
                elsewhere.app = "mail"
                let new = try device("new", platform, token)
                try registry.upsert([elsewhere, new])
                try expect(try registry.device("old"), is: nil, "old device of \(platform)")
                try expect(try registry.device("new"), is: new, "new device of \(platform)")
                try registry.upsert([new, new])
                try expect(try registry.deviceCount(), is: 2, "devices of \(platform)")
                try expect(try registry.prune([dead(new)]), is: 1, "removed of \(platform)")
                try expect(try registry.prune([dead(elsewhere)]), is: 1, "removed of \(platform), in another app")
            }
        },
        RegistryConformance("A text that two services know is two addresses, and pruning one leaves the other") {
            registry in
            for count in [1, 255, 256, 257, 2_048] {
                let devices = try [
                    device("google", .gcm, SampleAddress.make(.gcm, "t", bytes: count)),
                    device("installation", .gcm, SampleAddress.make(.gcm, "t", bytes: count, isInstallationID: true)),
                    device("amazon", .adm, SampleAddress.make(.adm, "t", bytes: count)),
                ]
                try registry.upsert(devices)
                try expect(try registry.deviceCount(), is: devices.count, "devices with \(count) bytes")
                for (number, device) in devices.enumerated() {
                    try expect(try registry.prune([dead(device), dead(device)]), is: 1, "removed of \(count) bytes")
                    let left = try registry.devices(matching: DeviceFilter(), after: nil, limit: 9)
                    let expected = Set(devices[(number + 1)...])
                    try expect(Set(left), is: expected, "devices that are left")
                }
            }
        },
        RegistryConformance("Keys and end are renewed under the same endpoint, which is dead whatever its keys are") {
            registry in
            func browser(_ generation: UInt8, _ expiresAt: Int64?, registeredAt: Int64) throws -> Device {
                var browser = try device(
                    "browser", .webPush,
                    SampleAddress.make(
                        .webPush, "e", bytes: 500, generation: generation, expiresAtMilliseconds: expiresAt))
                browser.registeredAtMilliseconds = registeredAt
                return browser
            }
            let old = try browser(1, nil, registeredAt: 1)
            for renewed in [try browser(2, 9_000, registeredAt: 5), try browser(3, nil, registeredAt: 6)] {
                try registry.upsert([old])
                try registry.upsert([renewed])
                try expect(try registry.device("browser"), is: renewed, "renewed device")
                let found = try registry.device(at: old.token, platform: .webPush, app: "chat")
                try expect(found, is: renewed, "device by its endpoint")
            }
            try expect(try registry.prune([dead(old, since: 6)]), is: 0, "removed though it was renewed since")
            try expect(try registry.prune([dead(old, since: 7)]), is: 1, "removed")
            var other = try browser(1, nil, registeredAt: 1)
            other.deviceID = "other"
            try registry.upsert([old, other])
            try expect(try registry.device("browser"), is: nil, "device whose endpoint another one has")
        },
        RegistryConformance("A token that has a successor is replaced by it, and all else of its device stays") {
            registry in
            for (from, to) in [(20, 30), (255, 256), (256, 255), (30, 2_048), (2_048, 300)] {
                var kindle = try device("kindle", .adm, SampleAddress.make(.adm, "old\(from)", bytes: from))
                var elsewhere = kindle
                elsewhere.app = "mail"
                elsewhere.deviceID = "elsewhere"
                try registry.upsert([kindle, elsewhere])
                let new = try SampleAddress.make(.adm, "new\(to)", bytes: to)
                func replaced(_ device: Device, since: Int64? = nil) -> DeadToken {
                    var dead = dead(device, since: since)
                    dead.successor = new
                    return dead
                }
                let earlier = replaced(kindle, since: kindle.registeredAtMilliseconds)
                try expect(try registry.prune([earlier]), is: 0, "removed")
                try expect(try registry.device("kindle"), is: kindle, "device that was registered after the answer")
                // A second answer of the same kind changes nothing.
                try expect(try registry.prune([replaced(kindle), replaced(kindle)]), is: 0, "removed")
                kindle.token = new
                try expect(try registry.device("kindle"), is: kindle, "device with its successor")
                let found = try registry.device(at: new, platform: .adm, app: "chat")
                try expect(found, is: kindle, "device by its successor")
                try expect(try registry.device("elsewhere"), is: elsewhere, "device of another app")
                let recipients = try RegistryPages.all(
                    of: AudienceRequest(audience: .users(["u"], app: "chat")), in: registry, limit: 3)
                try expect(recipients, is: [Recipient(kindle)], "recipients")
                // The installation has registered itself again under another identifier.
                let twin = try device("twin", .adm, SampleAddress.make(.adm, "twin", bytes: from))
                try registry.upsert([twin])
                try expect(try registry.prune([replaced(twin)]), is: 1, "removed, because another one has it")
                try expect(try registry.device("twin"), is: nil, "device whose successor another one has")
                try expect(try registry.device("kindle"), is: kindle, "device that has it")
            }
        },
        RegistryConformance("A device that changes its platform has the new address, and nothing of the old one") {
            registry in
            let addresses = try addresses()
            for (number, from) in addresses.enumerated() {
                for to in addresses[number...] + addresses[..<number] {
                    try registry.upsert([try device("d", from.platform, from.token)])
                    let changed = try device("d", to.platform, to.token)
                    try registry.upsert([changed])
                    try expect(try registry.device("d"), is: changed, "device")
                    try expect(try found(.users(["u"], app: "chat"), in: registry), is: ["d"], "audience")
                }
            }
        },
        RegistryConformance("An address that its platform cannot have is refused, and nothing is kept") { registry in
            let keys = try SampleAddress.make(.webPush, "e").details
            let bad: [(Platform, DeviceToken?)] = [
                (.apns, DeviceToken(text: Array(repeating: 0x61, count: 257))),
                (.courier, DeviceToken(text: [0x61], details: PushAddressDetails(isInstallationID: true))),
                (.gcm, DeviceToken(bytes: [0x20])), (.gcm, DeviceToken(bytes: [0x02, 0x61])),
                (.gcm, DeviceToken(text: [0x61], details: keys)), (.adm, DeviceToken(bytes: [0xc3, 0xa4])),
                (.adm, try SampleAddress.make(.gcm, "f", isInstallationID: true)),
                (.webPush, DeviceToken(text: Array("https://push.example/e".utf8))),
                (.webPush, DeviceToken(text: Array("http://push.example/e".utf8), details: keys)),
            ]
            let good = try device("good")
            for (platform, token) in bad {
                guard let token else { throw RegistryViolation("the check itself made no token") }
                try expect(.invalid, "\(platform) \(token)") {
                    try registry.upsert([good, try device("bad", platform, token)])
                }
            }
            let long = DeviceToken(text: Array(repeating: 0x61, count: 257))
            try registry.upsert([good])
            try expect(.invalid, "a further token of 257 bytes") {
                try registry.saveTokens(
                    try [long].map { token in
                        guard let token else { throw RegistryViolation("the check itself made no token") }
                        return FurtherToken(
                            deviceID: "good", kind: .voip, token: token, registeredAtMilliseconds: 1)
                    })
            }
            try expect(try registry.deviceCount(), is: 1, "count")
        },
        RegistryConformance("A token of an audience finds the devices of APNs, of clients that fetch, and of FCM") {
            registry in
            try registry.upsert([
                try device("apple", .apns, SampleAddress.make(.apns, "a")),
                try device("client", .courier, SampleAddress.make(.courier, "c")),
                try device("google", .gcm, SampleAddress.make(.gcm, "g")),
                try device("amazon", .adm, SampleAddress.make(.adm, "m")),
            ])
            let tokens = try ["a", "c", "g", "m"].map { try SampleAddress.make(.apns, $0) }
            let names = try found(.tokens(tokens, app: "chat"), in: registry)
            try expect(names, is: ["apple", "client", "google", "6d"], "devices")
            let kinds = Set(try registry.kinds(of: tokens, app: "chat").map(\.platform))
            try expect(kinds, is: [.apns, .courier, .gcm], "platforms")
        },
    ]

    /// Addresses of all platforms and sizes, no two of which are one.
    private static func addresses() throws -> [(platform: Platform, token: DeviceToken)] {
        var addresses: [(Platform, DeviceToken)] = []
        for platform in Platform.allCases {
            for count in platform.hasTextTokens ? [40, 254, 255, 256, 257, 1_000, 2_048] : [32, 256] {
                addresses.append((platform, try SampleAddress.make(platform, platform.rawValue, bytes: count)))
            }
        }
        addresses += [
            (.gcm, try SampleAddress.make(.gcm, "cKb0example-fid-22chr", isInstallationID: true)),
            (.gcm, try SampleAddress.make(.gcm, "fid", bytes: 300, isInstallationID: true)),
            (.webPush, try SampleAddress.make(.webPush, "end", expiresAtMilliseconds: 1_900_000_000_123)),
        ]
        return addresses
    }

    private static func device(_ deviceID: String, _ platform: Platform, _ token: DeviceToken) throws -> Device {
        var device = try device(deviceID, user: "u")
        device.platform = platform
        device.token = token
        return device
    }
}
