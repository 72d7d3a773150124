import PushCore

/// Which datasets this process has told the registry about lately, so that it tells each but once.
struct RecordedDatasets {
    private static let generationMaximum = 16_384

    private var young: Set<DatasetKey> = []
    private var old: Set<DatasetKey> = []

    func contains(_ key: DatasetKey) -> Bool { young.contains(key) || old.contains(key) }

    mutating func insert(_ keys: [DatasetKey]) {
        if young.count + keys.count > Self.generationMaximum {
            old = young
            young = []
        }
        young.formUnion(keys)
    }
}
