import ChangeEvents
import RegistryCore

extension RegistryConformance {
    static let pagingChecks = [
        RegistryConformance("Pages of every size hold each device once, and the last says that it is the last") {
            registry in
            let names = (0..<37).map { "d\($0)" }
            try registerCrowd(names, in: registry)
            for audience in try crowdAudiences(names) {
                for limit in [1, 2, 7, 36, 37, 38, 1_000] {
                    let whole = try found(audience, in: registry, limit: limit)
                    try expect(whole, is: names, "\(limit) to a page")
                    let without = try found(audience, in: registry, excluding: "d36", limit: limit)
                    try expect(without, is: Array(names.dropLast()), "\(limit) to a page, without the last")
                }
                let request = AudienceRequest(audience: audience, excludedDeviceID: "d36")
                let page = try registry.resolve([request], limit: 36)[0]
                try expect(page.next, is: nil, "what follows if the only one left is left out")
            }
        },
        RegistryConformance("Devices that come and go between pages make no other device missing or double") {
            registry in
            let names = (0..<40).map { "d\($0)" }
            for kind in 0..<6 {
                try registerCrowd(names, in: registry)
                var round = 0
                let audience = try crowdAudiences(names + ["new0", "new1", "new2"])[kind]
                let request = AudienceRequest(audience: audience)
                let devices = try RegistryPages.all(of: request, in: registry, limit: 3) {
                    _ = try registry.removeDevice("d\(round * 2)")
                    try registerCrowd(["new\(round % 3)", "d\(39 - round * 2)"], in: registry)
                    round += 1
                }
                let found = devices.map(\.deviceID)
                for index in stride(from: 1, to: 40, by: 2) {
                    let count = found.count { $0 == "d\(index)" }
                    try expect(count, is: 1, "how often d\(index) was found in kind \(kind)")
                }
                try expect(Set(found).count, is: found.count, "different devices in kind \(kind)")
                for device in try registry.devices(matching: DeviceFilter(), after: nil, limit: 1_000) {
                    _ = try registry.removeDevice(device.deviceID)
                }
            }
        },
        RegistryConformance("Cursors that no page gave are answered, too") { registry in
            try registerCrowd(["d0", "d1"], in: registry)
            for audience in try crowdAudiences(["d0", "d1"]) {
                for position in [Int64.min, -1, 1 << 40, 1 << 41, 1 << 62, .max - 1, .max] {
                    for only in [nil, ["d1"]] {
                        let request = AudienceRequest(
                            audience: audience, onlyDeviceIDs: only, cursor: AudienceCursor(position: position))
                        let page = try registry.resolve([request], limit: 10)[0]
                        try expect(page.devices.count <= 2, is: true, "devices at position \(position)")
                    }
                }
            }
        },
        RegistryConformance("Large audiences in one batch do not disturb each other or the small ones") { registry in
            let crowds = (0..<4).map { crowd in (0..<90).map { "c\(crowd)-\($0)" } }
            for (index, names) in crowds.enumerated() {
                try registry.upsert(try names.map { try device($0, identity: "crowd:\(index)") })
                for name in names { try registry.subscribe(name, toDataset: "d") }
            }
            var requests: [AudienceRequest] = []
            for index in 0..<4 {
                requests.append(AudienceRequest(audience: .dataset(dataset("d", identity: "crowd:\(index)"))))
                requests.append(AudienceRequest(audience: .dataset(dataset("d", identity: "nobody:\(index)"))))
                requests.append(AudienceRequest(audience: .identities(["crowd:\(index)", "crowd:3"], app: "chat")))
            }
            let pages = try registry.resolve(requests, limit: 20)
            for index in 0..<4 {
                let expected = Array(crowds[index].prefix(20))
                try expect(pages[index * 3].devices.map(\.deviceID), is: expected, "dataset \(index)")
                try expect(pages[index * 3].next == nil, is: false, "end of dataset \(index)")
                try expect(pages[index * 3 + 1], is: AudiencePage(devices: []), "nobody \(index)")
                try expect(pages[index * 3 + 2].devices.map(\.deviceID), is: expected, "identities \(index)")
            }
        },
    ]

    private static func registerCrowd(_ names: [String], in registry: any Registry) throws {
        try registry.register(
            try names.map { name in
                DeviceRegistration(device: try device(name, user: "crowd"), datasetNames: ["d"], topics: ["t"])
            })
    }

    private static func crowdAudiences(_ names: [String]) throws -> [Audience] {
        [
            .dataset(dataset("d")), .topic("t", app: "chat"), .devices(names, app: "chat"),
            .identities(["none", "identity:1"], app: "chat"), .users(["crowd", "none"], app: "chat"),
            // Removed devices come back as made-up ones here, so this kind names only those that stay.
            .tokens(try names.map { try device($0).token }, app: "chat"),
        ]
    }
}
