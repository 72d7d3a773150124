public import PushCore

extension PostgresRegistry {
    /// Finds the devices to notify for a batch of audiences.
    public func resolve(_ requests: [AudienceRequest], limit: Int) throws(RegistryError) -> [AudiencePage] {
        guard !requests.isEmpty else { return [] }
        let resolution = AudienceResolution(registry: self, requests: requests, limit: limit)
        return try resolution.resolve()
    }
}
