import PushCore

extension RegistryConformance {
    /// Checks with more devices than a registry can find by looking at all of them.
    public static let withCrowd = [
        RegistryConformance("An identity with 20 000 devices is read in pages, each device once") { registry in
            let count = 20_000
            try registry.register(
                try (0..<count).map { index in
                    DeviceRegistration(
                        device: try device("device-\(index)", identity: "crowd:0"), datasetNames: ["settings"])
                })
            try expect(try registry.deviceCount(), is: count, "the devices")
            let audiences = [
                Audience.dataset(dataset("settings", identity: "crowd:0")), .identities(["crowd:0"], app: "chat"),
            ]
            for audience in audiences {
                let names = try found(audience, in: registry, excluding: "device-7", limit: 999)
                try expect(names.count, is: count - 1, "the devices of \(audience)")
                try expect(Set(names).count, is: count - 1, "different devices of \(audience)")
            }
        }
    ]
}
