import Notifications
import PushCore

extension AudienceResolution {
    /// Finds the subscribers of datasets.
    func resolveDatasets(_ indices: [Int]) throws(RegistryError) {
        guard !indices.isEmpty else { return }
        try scanDatasets(indices, registry.queries.datasetSubscribers)
        // No subscriber by name: the dataset may be new, and then those count who subscribed to what is to come.
        let remaining = indices.filter { !isAnswered($0) }
        guard !remaining.isEmpty else { return }
        try scanDatasets(remaining, registry.queries.futureSubscribers)
    }

    /// The numbers of a dataset's pool and name.
    ///
    /// - Returns: nil if this can be no dataset's name, so that it has no subscriber.
    func numbers(_ key: DatasetKey) throws(RegistryError) -> (pool: Int64, name: Int64)? {
        let name = try registry.datasetNames.identifier(of: key.datasetName)
        if name == nil || name == Schema.futureDatasets {
            guard RegistryRules.isDatasetName(key.datasetName) else { return nil }
        }
        return (try registry.pools.identifier(of: key.identityPoolID) ?? Self.unknown, name ?? Self.unknown)
    }

    private func scanDatasets(_ indices: [Int], _ query: AudienceQuery) throws(RegistryError) {
        for index in indices {
            guard case .dataset(let key) = requests[index].audience, let numbers = try numbers(key) else { continue }
            buffer.append(
                request: index, name: key.identityID.utf8,
                numbers: (numbers.pool, numbers.name, position(index), asOfFanOut(index)))
            if buffer.isFull { try fill(from: query) { _, row in row } }
        }
        try fill(from: query) { _, row in row }
    }
}
