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
}
