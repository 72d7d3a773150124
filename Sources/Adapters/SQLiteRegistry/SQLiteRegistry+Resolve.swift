public import PushCore

extension SQLiteRegistry {
    /// Finds the devices to notify for a batch of audiences.
    public func resolve(_ requests: [AudienceRequest], limit: Int) throws(RegistryError) -> [AudiencePage] {
        guard !requests.isEmpty else { return [] }
        return try reading { () throws(RegistryError) in
            let resolution = AudienceResolution(registry: self, requests: requests, limit: max(limit, 1))
            return try resolution.resolve()
        }
    }

    /// Counts the devices of one page of a whole audience, and finds where it ends.
    public func measure(
        _ audience: Audience, after cursor: AudienceCursor?, limit: Int
    ) throws(RegistryError) -> AudienceExtent {
        try reading { () throws(RegistryError) in
            let resolution = AudienceResolution(
                registry: self, requests: [AudienceRequest(audience: audience, cursor: cursor)], limit: max(limit, 1),
                isCounting: true)
            return try resolution.measure()
        }
    }
}
