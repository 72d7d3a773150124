public import Notifications

extension Platform {
    /// The number of the platform in the table `platform`, which several share (`AddressKey`).
    public var registryNumber: Int64 {
        switch self {
        case .apns: 0
        case .apnsSandbox: 1
        case .gcm, .adm, .webPush: 2
        case .courier: 3
        }
    }

    /// The number of the platform in the counts of campaigns, where each has its own; a released one never changes.
    public var campaignNumber: Int64 {
        switch self {
        case .apns: 0
        case .apnsSandbox: 1
        case .gcm: 2
        case .courier: 3
        case .adm: 4
        case .webPush: 5
        }
    }

    /// The platform with a number in the counts of campaigns, or nil.
    public init?(campaignNumber: Int64) {
        guard let platform = Platform.allCases.first(where: { $0.campaignNumber == campaignNumber }) else { return nil }
        self = platform
    }
}
