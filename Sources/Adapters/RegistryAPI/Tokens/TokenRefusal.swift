import PushCore

/// Why a bearer token does not open the way.
enum TokenRefusal: Error {
    /// There is none, or nobody has it.
    case unknown
    /// There is none, or nobody has it, and too many requests from that address were like that.
    case unknownTooOften(retryAfterSeconds: Int)
    /// It makes too many requests.
    case tooMany(retryAfterSeconds: Int)
    /// It may only read.
    case readOnly
    /// The registry does not say.
    case failed(RegistryError)
}
