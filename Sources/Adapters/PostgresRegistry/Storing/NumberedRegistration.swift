import PushCore

/// A registration with the numbers of the names in it.
struct NumberedRegistration {
    let registration: DeviceRegistration
    let app: Int64
    let pool: Int64?
    let identity: Int64?
}
