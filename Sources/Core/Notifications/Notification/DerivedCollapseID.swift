import Essentials
import Hashing

/// Collapse identifiers that Apus derives itself, so that a newer push replaces an older one on the device.
///
/// APNs stores one notification for each bundle identifier of an offline device, and devices delay silent pushes. With
/// one collapse identifier for each dataset, the newest change of the dataset survives.
///
/// An identifier is a word and 32 hexadecimal digits: a 128-bit hash, because names may be longer than the 64 bytes
/// that APNs takes. A collision would merely let one push replace another on the same device, so a hash that resists
/// attackers is not needed. All workers derive the same.
public enum DerivedCollapseID {
    /// The identifier for all pushes about one dataset: `dataset-` and digits.
    public static func ofDataset(_ key: DatasetKey) -> String {
        text("dataset-") { digest in
            digest.mix(key.identityPoolID)
            digest.mix(key.identityID)
            digest.mix(key.datasetName)
        }
    }

    /// The identifier for the push that an event asks for, which its second copy has too: `event-` and digits.
    ///
    /// - Parameters:
    ///   - identifier: names the event among those of its source.
    ///   - source: the source, or the subscription that makes a push of the event.
    /// - Returns: the identifier.
    public static func ofEvent(_ identifier: String, of source: String) -> String {
        text("event-") { digest in
            digest.mix(source)
            digest.mix(identifier)
        }
    }

    /// The identifier for silent pushes of a subscription about one record: `record-` and digits.
    ///
    /// - Parameter parts: all that tells the record from others, and the subscription.
    /// - Returns: the identifier.
    public static func ofRecord(_ parts: [String]) -> String {
        text("record-") { digest in
            for part in parts { digest.mix(part) }
        }
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
        return Self.text("record-") { $0.mix(text) }
    }

    private static func text(_ prefix: StaticString, _ mix: (inout WordDigest) -> Void) -> String {
        var digest = WordDigest()
        mix(&digest)
        digest.finish()
        return String(unsafeUninitializedCapacity: prefix.utf8CodeUnitCount + 32) { buffer in
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
