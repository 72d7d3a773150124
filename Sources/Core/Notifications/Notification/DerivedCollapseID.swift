import Essentials
import Hashing

/// Collapse identifiers that Apus derives itself, so that a newer push replaces an older one on the device.
///
/// APNs stores one notification for each bundle identifier of an offline device, and devices delay silent pushes. With
/// one collapse identifier for each dataset, the newest change of the dataset survives.
public enum DerivedCollapseID {
    private static let prefix: StaticString = "dataset-"

    /// The identifier for all pushes about one dataset: `dataset-` and 32 hexadecimal digits, 40 bytes.
    ///
    /// The digits are a 128-bit hash of pool, identity and dataset name, because together they may be longer than the
    /// 64 bytes that APNs takes. A collision would merely let one dataset's silent push replace another's on the same
    /// device, so a hash that resists attackers is not needed. All workers derive the same.
    public static func ofDataset(_ key: DatasetKey) -> String {
        var digest = WordDigest()
        digest.mix(key.identityPoolID)
        digest.mix(key.identityID)
        digest.mix(key.datasetName)
        digest.finish()
        return text(prefix, digest)
    }

    /// The identifier that a text gives: the text itself if APNs takes it, else `record-` and the digits of its hash;
    /// nil if it is empty.
    public static func ofText(_ text: String) -> String? {
        guard !text.isEmpty else { return nil }
        let isValue = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
        if isValue, text.utf8.count <= NotificationRules.collapseIDBytesMaximum, text.utf8.first != 0x20,
            text.utf8.last != 0x20
        {
            return text
        }
        var digest = WordDigest()
        digest.mix(text)
        digest.finish()
        return Self.text("record-", digest)
    }

    private static func text(_ prefix: StaticString, _ digest: WordDigest) -> String {
        String(unsafeUninitializedCapacity: prefix.utf8CodeUnitCount + 32) { buffer in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            bytes.copyMemory(from: UnsafeRawBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount))
            var offset = prefix.utf8CodeUnitCount
            for half in [digest.high, digest.low] {
                for word in [UInt32(truncatingIfNeeded: half >> 32), UInt32(truncatingIfNeeded: half)] {
                    bytes.storeBytes(of: HexadecimalDigits.digits(of: word), toByteOffset: offset, as: UInt64.self)
                    offset += 8
                }
            }
            return offset
        }
    }
}
