import CCommandLine

/// The environment of the process.
enum ProcessEnvironment {
    /// The variables by name, as they were at the start of the program.
    static let variables = readVariables()

    private static func readVariables() -> [String: String] {
        var variables: [String: String] = [:]
        var next = ccommandline_environment()
        while let pointer = next?.pointee {
            let entry = String(cString: pointer)
            let name = entry.prefix { $0 != "=" }
            variables[String(name)] = String(entry.dropFirst(name.count + 1))
            next = next?.successor()
        }
        return variables
    }
}
