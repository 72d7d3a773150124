/// Collapse identifiers that Apus derives itself, so that a newer push replaces an older one on the device.
///
/// APNs stores one notification for each bundle identifier of an offline device, and devices hold back silent pushes:
/// with one collapse identifier for each dataset, what survives is the newest change of the dataset.
public enum DerivedCollapseID {
    /// The identifier for all pushes about one dataset: `dataset-` and 32 hexadecimal digits, 40 bytes.
    ///
    /// The digits are the 128-bit FNV-1a hash of pool, identity and dataset name, because together they may be longer
    /// than the 64 bytes that APNs takes. A collision would merely let one dataset's silent push replace another's on
    /// the same device, so a hash that resists attackers is not needed.
    public static func ofDataset(_ key: DatasetKey) -> String {
        var hash = offsetBasis
        for part in [key.identityPoolID, key.identityID, key.datasetName] {
            for byte in part.utf8 { hash = (hash ^ UInt128(byte)) &* prime }
            // A byte that no valid UTF-8 text contains, so that parts cannot run into each other.
            hash = (hash ^ 0xff) &* prime
        }
        let digits = String(hash, radix: 16)
        return "dataset-" + String(repeating: "0", count: 32 - digits.count) + digits
    }

    // The constants of 128-bit FNV-1a, from its authors (isthe.com/chongo/tech/comp/fnv).
    private static let offsetBasis: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    private static let prime: UInt128 = 0x0000_0000_0100_0000_0000_0000_0000_013b
}
