/// The difference between two configurations of a process, and what a reload has to do about it.
public struct ConfigurationChange: Hashable, Sendable {
    /// The full names of the keys whose values differ, sorted; the keys of an app that is new or gone are among them.
    public let keys: [String]
    /// The changed keys that have an effect only after a restart.
    public let keysForRestart: [String]
    /// Whether a reload has to build the worker and the API again.
    ///
    /// It has to even if no key differs, because the files that the keys name may have changed.
    public let needsNewParts: Bool

    /// Compares two configurations.
    ///
    /// - Parameters:
    ///   - old: the one in force.
    ///   - new: the one that was read now.
    public init(from old: LoadedConfiguration, to new: LoadedConfiguration) {
        let before = Dictionary(old.effective.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        let after = Dictionary(new.effective.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        var changed: [EffectiveValue] = []
        for value in old.effective where after[value.key]?.exact != value.exact { changed.append(value) }
        for value in new.effective where before[value.key] == nil { changed.append(value) }
        keys = changed.map(\.key).sorted()
        keysForRestart = changed.filter { $0.effect == .afterRestart }.map(\.key).sorted()
        needsNewParts = changed.isEmpty || changed.contains { $0.effect == .afterReload }
    }
}

extension LoadedConfiguration {
    /// This configuration, but with the values of another one where a change needs a restart.
    ///
    /// - Parameter running: the configuration that the process was started with.
    /// - Returns: the configuration that can be put in force now.
    public func keeping(_ running: LoadedConfiguration) -> LoadedConfiguration {
        var kept = configuration
        kept.registry = running.configuration.registry
        kept.registryAPI.listen = running.configuration.registryAPI.listen
        kept.admin.listen = running.configuration.admin.listen
        kept.admin.hosts = running.configuration.admin.hosts
        kept.log.format = running.configuration.log.format
        let values = Dictionary(running.effective.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        return LoadedConfiguration(
            configuration: kept, warnings: warnings, path: path,
            effective: effective.map { $0.effect == .afterRestart ? values[$0.key] ?? $0 : $0 })
    }
}
