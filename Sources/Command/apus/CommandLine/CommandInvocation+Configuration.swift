import Dispatcher

extension CommandInvocation {
    /// Loads the configuration that `--config`, `--set` and the environment ask for.
    ///
    /// The command has to list `CommandOption.configuration` among its options. Warnings are printed for what runs long
    /// only: whoever lists devices does not want to read about the broker's password each time.
    ///
    /// - Parameter purpose: how much of it has to be right.
    /// - Returns: the configuration.
    /// - Throws: `CommandFailure` with all problems, one a line, and the code 78.
    func loadConfiguration(for purpose: ConfigurationLoader.Purpose) throws(CommandFailure) -> LoadedConfiguration {
        let loader = try configurationLoader()
        do {
            let loaded = try loader.load(for: purpose)
            if purpose != .tool {
                for warning in loaded.warnings { StandardError.line("warning: \(warning)") }
            }
            return loaded
        } catch {
            let count = error.problems.count
            let lines = error.problems.map { "\n  \($0)" }.joined()
            throw CommandFailure(
                .configuration, "\(count) \(count == 1 ? "problem" : "problems") in the configuration:\(lines)")
        }
    }

    /// A loader for what the command line says.
    func configurationLoader() throws(CommandFailure) -> ConfigurationLoader {
        var overrides: [ConfigurationOverride] = []
        for text in strings(.set) {
            let key = text.prefix { $0 != "=" }
            guard key.count < text.count else { throw .usage("--set takes KEY=VALUE, not '\(key)'") }
            overrides.append(
                ConfigurationOverride(key: String(key), value: String(text.dropFirst(key.count + 1))))
        }
        return ConfigurationLoader(
            path: string(.config), environment: ProcessEnvironment.variables, overrides: overrides)
    }
}
