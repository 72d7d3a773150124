/// A device token is not as its platform writes it.
struct PlatformTokenError: Error {
    let message: String
}
