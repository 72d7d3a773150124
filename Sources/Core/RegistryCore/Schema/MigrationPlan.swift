/// One migration that is to be done or undone.
public struct MigrationStep: Hashable, Sendable {
    /// Whether a migration is done or undone.
    public enum Direction: String, Sendable {
        case up
        case down
    }

    /// Whether the migration is done or undone.
    public let direction: Direction
    /// The migration.
    public let migration: SchemaMigration
    /// The schema of the registry afterwards.
    public let stateAfter: SchemaState
    /// The statements.
    public let statements: String

    /// The version of the registry before.
    public var versionBefore: Int64 { direction == .up ? migration.version - 1 : migration.version }

    /// Whether a registry is past this step already, because another process was faster.
    ///
    /// - Parameter state: the schema of the registry, read in the transaction of the step.
    /// - Returns: false if the step is to be done now.
    /// - Throws: `RegistryError` with `.unavailable` if another process has migrated the other way.
    public func isDone(in state: SchemaState) throws(RegistryError) -> Bool {
        if state.version == versionBefore { return false }
        let isPast =
            direction == .up ? state.version > versionBefore : state.version < versionBefore
        guard isPast else {
            throw RegistryError(
                .unavailable,
                "Another process migrated the registry meanwhile: its schema version is \(state.version), and "
                    + "\(versionBefore) was expected. See who did, then run the command again.")
        }
        return true
    }
}

/// The steps from the schema of a registry to a wanted version.
public struct MigrationPlan: Hashable, Sendable {
    /// The steps, in their order; none if the registry has the wanted version.
    public let steps: [MigrationStep]

    /// Plans a way up.
    ///
    /// - Parameters:
    ///   - state: the schema of the registry.
    ///   - target: the wanted version; nil for the newest that is known.
    ///   - migrations: the migrations.
    /// - Throws: `RegistryError` with `.invalid` if there is no such version, or it lies below.
    public init(up state: SchemaState, to target: Int64?, _ migrations: SchemaMigrations) throws(RegistryError) {
        if let target {
            guard (1...migrations.newest).contains(target) else { throw Self.unknown(target, migrations) }
            guard target >= state.version else {
                throw RegistryError(
                    .invalid,
                    "The registry has the schema version \(state.version), which is above \(target). Going back "
                        + "removes tables: say so with --down.")
            }
        }
        steps = migrations.all.filter { $0.version > state.version && $0.version <= target ?? migrations.newest }
            .map(migrations.up)
    }

    /// Plans a way down.
    ///
    /// - Parameters:
    ///   - state: the schema of the registry.
    ///   - target: the wanted version; nil for the one before.
    ///   - migrations: the migrations.
    /// - Throws: `RegistryError` with `.invalid` if there is no such version, it lies above, or a migration between is
    ///   unknown or cannot be undone.
    public init(down state: SchemaState, to target: Int64?, _ migrations: SchemaMigrations) throws(RegistryError) {
        guard state.version <= migrations.newest else {
            throw RegistryError(
                .invalid,
                "The registry has the schema version \(state.version), and this Apus knows only \(migrations.newest): "
                    + "it cannot undo what it does not know. Use the Apus that migrated the registry.")
        }
        let target = target ?? state.version - 1
        guard (0...migrations.newest).contains(target) else { throw Self.unknown(target, migrations) }
        guard target <= state.version else {
            throw RegistryError(
                .invalid,
                "The registry has the schema version \(state.version), which is below \(target). Leave out --down.")
        }
        var steps: [MigrationStep] = []
        for migration in migrations.all[Int(target)..<Int(state.version)].reversed() {
            guard let down = migration.down else {
                throw RegistryError(
                    .invalid,
                    "The migration \(migration.version) (\(migration.summary)) cannot be undone. Restore a backup from "
                        + "before it, or stay at version \(migration.version).")
            }
            steps.append(
                MigrationStep(
                    direction: .down, migration: migration, stateAfter: migrations.state(at: migration.version - 1),
                    statements: down))
        }
        self.steps = steps
    }

    private static func unknown(_ target: Int64, _ migrations: SchemaMigrations) -> RegistryError {
        RegistryError(
            .invalid, "There is no schema version \(target): this Apus knows 1 to \(migrations.newest).")
    }
}
