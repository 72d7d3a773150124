public import PushCore

extension PostgresRegistry {
    /// Finds the devices to notify for a batch of audiences.
    public func resolve(_ requests: [AudienceRequest], limit: Int) throws(RegistryError) -> [AudiencePage] {
        guard !requests.isEmpty else { return [] }
        let resolution = AudienceResolution(registry: self, requests: requests, limit: limit)
        return try resolution.resolve()
    }

    /// Counts the devices of one page of a whole audience, and finds where it ends.
    public func measure(
        _ audience: Audience, after cursor: AudienceCursor?, limit: Int
    ) throws(RegistryError) -> AudienceExtent {
        let request = AudienceRequest(audience: audience, cursor: cursor)
        let resolution = AudienceResolution(registry: self, requests: [request], limit: limit, isCounting: true)
        return try resolution.measure()
    }
}
