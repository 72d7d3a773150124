public import RegistryCore

extension DeviceDetailRegistry where Self: SQLStore {
    /// The datasets, further tokens and badge of a device.
    public func details(of deviceID: String) throws(RegistryError) -> DeviceDetails {
        var details: DeviceDetails?
        try ask([
            .badge(of: deviceID),
            """
            SELECT s.name, s.id FROM \(table: "device") d CROSS JOIN \(table: "dataset_subscription") u
            CROSS JOIN \(table: "dataset_name") s
            WHERE d.device_id = \(deviceID) AND u.device = d.id AND s.id = u.dataset_name ORDER BY s.name
            """,
            """
            SELECT \(sql: FurtherToken.readColumns) FROM \(table: "device") d CROSS JOIN \(table: "device_token") t
            WHERE d.device_id = \(deviceID) AND t.device = d.id ORDER BY t.kind
            """,
        ]) { (index, row) throws(RegistryError) in
            switch index {
            case 0: details = DeviceDetails(badge: Int(badge: row))
            case 1 where row.integer(1) == futureDatasets: details?.datasets.includesFuture = true
            case 1: details?.datasets.datasetNames.append(row.text(0))
            default: details?.tokens.append(try FurtherToken(row, from: 0, of: deviceID))
            }
        }
        guard let details else { throw RegistryError.noDevice(deviceID) }
        return details
    }
}

extension Registry where Self: DeviceDetailRegistry {
    /// The dataset subscriptions of a device.
    public func datasetSubscriptions(of deviceID: String) throws(RegistryError) -> DatasetSubscriptions {
        try details(of: deviceID).datasets
    }
}

/// The number of the name `NumberedRegistration.futureDatasets` in `dataset_name`.
private let futureDatasets: Int64 = 0
