/// The values of the parameters of a path.
struct PathValues: Sendable {
    let values: [String: String]

    /// The value of a parameter of the route's own pattern.
    subscript(_ name: String) -> String { values[name] ?? "" }
}
