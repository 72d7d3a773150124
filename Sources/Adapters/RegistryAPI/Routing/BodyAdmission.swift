import HTTPServer

/// Whether the sender of a request may fill the memory with a long body, as far as the head tells.
enum BodyAdmission: Sendable {
    /// It may come.
    case allowed
    /// It does not come: this is the answer.
    case refused(HTTPResponse)
    /// The registry knows: this is done on the loop that reads, in turns between these credentials, and gives the
    /// answer if the body may not come.
    case asked(as: String, @Sendable (RegistryContext) -> HTTPResponse?)
}
