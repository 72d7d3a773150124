import HTTPServer

/// One thing that a dialect can do: a method, a path, and what follows.
struct Route: Sendable {
    /// The name by which metrics and logs call it, for example `RegisterDevice`.
    let name: String
    /// The method, for example `POST`.
    let method: String
    /// The path.
    let path: PathPattern
    /// Finds out who sends a request, and whether he may; runs on the server's thread.
    let admit: @Sendable (HTTPRequest, PathValues) -> Admission

    init(
        _ name: String, _ method: String, _ path: String,
        admit: @escaping @Sendable (HTTPRequest, PathValues) -> Admission
    ) {
        self.name = name
        self.method = method
        self.path = PathPattern(path)
        self.admit = admit
    }
}
