public import Essentials
import Hashing
public import Notifications

/// The announcement of an event about a dataset: the dataset has changed, up to this sync count.
public struct DatasetAnnouncement: BitwiseCopyable, Sendable {
    let dataset: WordDigest
    let syncCount: Int64
    let firstSeenMilliseconds: Int64
    /// Stands for the event: 64 bits of the hash of its names.
    let event: UInt64

    /// Takes the announcement from an event; nil if it has no sync count.
    ///
    /// - Parameters:
    ///   - change: the event's change.
    ///   - source: the source of the event.
    ///   - identifier: the identifier of the event.
    ///   - firstSeen: when Apus first received the event.
    public init?(_ change: DatasetChange, source: String, identifier: String, firstSeen: WallTime) {
        guard change.operation == .changed, let syncCount = change.syncCount else { return nil }
        dataset = change.key.digest
        self.syncCount = syncCount
        firstSeenMilliseconds = firstSeen.milliseconds
        var digest = WordDigest(seed: WordDigest.secretSeed)
        digest.mix(source)
        digest.mix(identifier)
        digest.finish()
        event = digest.low
    }

    /// A digest that stands for a device and the dataset.
    func digest(for deviceID: String) -> WordDigest {
        var digest = WordDigest(seed: WordDigest.secretSeed)
        digest.mix(word: dataset.high)
        digest.mix(word: dataset.low)
        digest.mix(deviceID)
        digest.finish()
        return digest
    }
}
