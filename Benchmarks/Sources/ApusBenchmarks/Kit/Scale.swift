/// How much the scenarios do: enough to measure, or only enough to see that they work.
enum Scale {
    /// Whether `--small` was given: small counts, no budgets, no results.
    static let isSmall = CommandLine.arguments.contains("--small")

    /// The value for measuring, or the small one.
    static func of<Value>(_ whole: Value, small: Value) -> Value { isSmall ? small : whole }
}
