/// One numbered step of the schema of a registry, as data.
///
/// A migration that was released never changes. A change of the schema is a new migration.
public struct SchemaMigration: Hashable, Sendable {
    /// The version of the schema after this migration; the first is 1.
    public let version: Int64
    /// The change in one sentence, for people.
    public let summary: String
    /// The locks that the statements take, and how long they last, for the operator who plans the migration.
    public let impact: String
    /// The oldest schema that a program must know in order to read and write a registry with this migration.
    ///
    /// It is the one of the migration before if this one only adds (*expand*), because older programs do not see what
    /// was added. It is higher if an older program would fail or do harm (*contract*).
    public let minimumProgramSchema: Int64
    /// The statements that do it.
    public let up: String
    /// The statements that undo it; nil if it cannot be undone.
    public let down: String?

    /// Creates a migration.
    public init(
        version: Int64, summary: String, impact: String, minimumProgramSchema: Int64, up: String, down: String?
    ) {
        self.version = version
        self.summary = summary
        self.impact = impact
        self.minimumProgramSchema = minimumProgramSchema
        self.up = up
        self.down = down
    }
}

/// The schema that a registry has, by its own account.
public struct SchemaState: Hashable, Sendable {
    /// The newest migration that was done.
    public let version: Int64
    /// The oldest schema that a program must know in order to use the registry.
    public let minimumProgramSchema: Int64

    /// Creates a state.
    public init(version: Int64, minimumProgramSchema: Int64) {
        self.version = version
        self.minimumProgramSchema = minimumProgramSchema
    }
}

/// The migrations that a program knows, and which registries it can use.
///
/// A program and a registry each declare a range, so that two releases can share a registry: the registry says the
/// oldest schema that a program must know, and the program says the oldest registry that it can use.
public struct SchemaMigrations: Hashable, Sendable {
    /// All migrations, oldest first.
    public let all: [SchemaMigration]
    /// The oldest registry that the program can read and write.
    public let oldestUsable: Int64

    /// Creates the list of a store.
    ///
    /// - Parameters:
    ///   - all: the migrations, numbered 1, 2, 3 …, whose minimum never falls and is at most their own version.
    ///   - oldestUsable: the oldest registry that the program can use.
    public init(_ all: [SchemaMigration], oldestUsable: Int64 = 1) {
        precondition(!all.isEmpty && all.map(\.version) == (1...Int64(all.count)).map(\.self), "numbered from 1")
        precondition(all.allSatisfy { (1...$0.version).contains($0.minimumProgramSchema) }, "its own version at most")
        precondition(zip(all, all.dropFirst()).allSatisfy { $0.minimumProgramSchema <= $1.minimumProgramSchema })
        precondition((1...Int64(all.count)).contains(oldestUsable), "a known version")
        self.all = all
        self.oldestUsable = oldestUsable
    }

    /// The newest version, which a new registry gets.
    public var newest: Int64 { Int64(all.count) }

    /// All steps up, by which a store makes a new registry.
    public var stepsOfNewRegistry: [MigrationStep] { all.map(up) }

    /// The step that does a migration.
    func up(_ migration: SchemaMigration) -> MigrationStep {
        MigrationStep(
            direction: .up, migration: migration, stateAfter: state(at: migration.version), statements: migration.up)
    }

    /// The state of a registry that was migrated up to one of these versions.
    func state(at version: Int64) -> SchemaState {
        SchemaState(version: version, minimumProgramSchema: all[Int(version) - 1].minimumProgramSchema)
    }

    /// Makes sure that the program can use a registry.
    ///
    /// - Parameters:
    ///   - state: the schema of the registry.
    ///   - registry: the registry, for the message.
    /// - Throws: `RegistryError` with `.newerSchema` or `.olderSchema`, and the command that helps.
    public func requireUsable(_ state: SchemaState, registry: String) throws(RegistryError) {
        let found = "The registry \(registry) has the schema version \(state.version)"
        if state.minimumProgramSchema > newest {
            throw RegistryError(
                .newerSchema,
                "\(found), which programs can use from the schema \(state.minimumProgramSchema) on; this Apus knows "
                    + "only \(newest). Run the Apus that migrated it, or undo the migration with that Apus: 'apus "
                    + "registry migrate --down --to \(newest)'.")
        }
        if state.version < oldestUsable {
            throw RegistryError(
                .olderSchema,
                "\(found), and this Apus needs \(oldestUsable) at least. Migrate it: 'apus registry migrate'.")
        }
    }
}
