import HTTPServer

/// Whether a request may go on to the registry.
enum Admission: Sendable {
    /// It ends here, with this answer.
    case answered(HTTPResponse)
    /// Its sender may do it: this is done on the registry's thread.
    case admitted(@Sendable (RegistryContext) -> HTTPResponse)
    /// The answer waits for something to happen: this is done on the registry's thread, and answers then or later.
    case held(@Sendable (RegistryContext, HeldRequest) -> Void)
}
