import HTTPServer

/// Whether a request may go on to the registry.
enum Admission: Sendable {
    /// It ends here, with this answer.
    case answered(HTTPResponse)
    /// It waits for its turn among the requests of this credential, and then this is done.
    case admitted(as: String, RegistryStep)
    /// The answer waits for something to happen: this is done on the loop that writes, and answers then or later.
    case held(@Sendable (RegistryContext, HeldRequest) -> Void)
}
