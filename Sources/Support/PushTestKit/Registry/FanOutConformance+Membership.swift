import PushCore

extension FanOutConformance {
    static let membershipChecks = [
        RegistryConformance("Chunks hold whoever was there from the beginning to the end, once, and nobody later") {
            registry in
            for kind in FanOutWalk.Kind.allCases {
                for round in 0..<4 {
                    var walk = FanOutWalk(
                        registry, kind: kind, name: "\(kind)\(round)", seed: UInt64.random(in: 0 ... .max))
                    try walk.run()
                }
            }
        },
        RegistryConformance("Lists are what the event says, in chunks as well") { registry in
            let names = (0..<10).map { "d\($0)" }
            try registry.upsert(try names.dropLast().map { try RegistryConformance.device($0) })
            let fanOut = try registry.beginFanOut(event("1"), planner: 1, nowMilliseconds: now)
            try registry.upsert([try RegistryConformance.device("d9")])
            for audience in [
                Audience.devices(names, app: "chat"),
                .tokens(try names.map { try RegistryConformance.device($0).token }, app: "chat"),
            ] {
                var found: [String] = []
                var after: AudienceCursor?
                for end in [4, 5, 9] as [Int64?] + [nil] {
                    let through = end.map { AudienceCursor(position: $0) }
                    let request = AudienceRequest(
                        audience: audience, cursor: after, through: through, asOfFanOut: fanOut.number)
                    found += try RegistryPages.all(of: request, in: registry, limit: 2).map(\.deviceID)
                    after = through
                }
                try RegistryConformance.expect(found, is: names, "the devices of \(audience)")
            }
        },
    ]
}
