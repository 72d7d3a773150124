import Notifications

extension Platform {
    /// The number of the platform in the table `platform`.
    var registryNumber: Int64 {
        switch self {
        case .apns: 0
        case .apnsSandbox: 1
        case .gcm: 2
        case .web: 3
        }
    }

    /// The platform with a number, or nil.
    init?(registryNumber: Int64) {
        switch registryNumber {
        case 0: self = .apns
        case 1: self = .apnsSandbox
        case 2: self = .gcm
        case 3: self = .web
        default: return nil
        }
    }
}
