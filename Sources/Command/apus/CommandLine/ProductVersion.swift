/// Which Apus this is.
enum ProductVersion {
    /// The version, by the rules of semantic versioning.
    static let current = "0.1.0"
}
