import PushCore

extension RecordDatabase {
    /// The number that stands for it in a registry file.
    var registryNumber: Int64 { Int64(cloudKitNumber) }

    /// The database of a number; nil if there is none.
    init?(registryNumber: Int64) {
        guard let database = Self.allCases.first(where: { $0.registryNumber == registryNumber }) else { return nil }
        self = database
    }
}
