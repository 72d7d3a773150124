import RegistryCore
import RegistrySQL

extension SchemaConformance {
    static let versionChecks = [
        SchemaConformance("A new registry has the newest schema, and nothing waits") { store in
            let registry = try store.open(.create, store.released)
            try store.expectState(store.released.newest, minimum: store.minimum)
            try RegistryConformance.expect(try registry.schemaWarning(), is: nil, "the warning")
        },
        SchemaConformance("The registry of the first program opens, is not migrated, and says what waits") { store in
            try store.makeFirstRegistry()
            for mode in [RegistryOpenMode.readOnly, .existing, .readWrite, .create] {
                let warning = try store.open(mode, store.extended).schemaWarning() ?? "none"
                guard warning.contains("apus registry migrate"), warning.contains("version 1,") else {
                    throw RegistryViolation("\(mode): the warning is: \(warning)")
                }
            }
            try store.expectState(1, minimum: 1)
        },
        SchemaConformance("A registry that was migrated from the first schema has the tables of a new one") { store in
            try store.makeFirstRegistry()
            let first = try store.columns()
            try store.migrate(up: nil, store.released)
            let newest = try store.columns()
            try store.migrate(down: 1, store.released)
            try RegistryConformance.expect(try store.columns(), is: first, "the tables after the way back")
            try store.migrate(up: nil, store.released)
            try RegistryConformance.expect(try store.columns(), is: newest, "the tables after the second way up")
        },
        SchemaConformance("A feature asks for its migration, and the error names the command") { store in
            try store.makeFirstRegistry()
            let registry = try store.open(.readWrite, store.extended)
            try registry.requireSchema(1, for: "A registry")
            try store.expectRefusal(.olderSchema, mentioning: "Pausing needs the schema version 2") {
                try registry.requireSchema(2, for: "Pausing")
            }
            try store.migrate(up: nil, store.extended)
            try registry.requireSchema(2, for: "Pausing")
        },
    ]

    static let migrationChecks = [
        SchemaConformance("Migrations go up and down, to any version, and keep the devices") { store in
            let newest = store.released.newest
            try store.open(.create, store.released).upsert([try RegistryConformance.device("phone")])
            let before = try store.columns()
            try store.migrate(up: newest + 1, store.extended)
            try store.expectState(newest + 1, minimum: store.minimum)
            try store.execute("INSERT INTO note (id) VALUES (7)")
            try store.migrate(up: nil, store.extended)
            try store.expectState(newest + 3, minimum: newest + 2)
            try RegistryConformance.expect(try store.columns(), is: before, "the tables after the last migration")
            try store.migrate(down: nil, store.extended)
            try store.execute("INSERT INTO note (id, text) VALUES (8, 'eight')")
            try store.migrate(down: newest, store.extended)
            try store.expectState(newest, minimum: store.minimum)
            try RegistryConformance.expect(try store.columns(), is: before, "the tables after the way back")
            let registry = try store.open(.readWrite, store.released)
            try RegistryConformance.expect(try registry.device("phone") != nil, is: true, "the device is there")
        },
        SchemaConformance("A migration that fails leaves nothing, and those before it stay") { store in
            let newest = store.released.newest
            _ = try store.open(.create, store.released)
            let before = try store.columns()
            let broken = store.adding([
                store.step(newest + 1, store.minimum, "CREATE TABLE note (id INTEGER)", "DROP TABLE note"),
                store.step(
                    newest + 2, store.minimum, "CREATE TABLE other (id INTEGER); INSERT INTO none VALUES (1)", nil),
            ])
            let failure: (any Error)?
            do {
                try store.migrate(up: nil, broken)
                failure = nil
            } catch { failure = error }
            try RegistryConformance.expect(failure is RegistryError, is: true, "the migration fails")
            try store.expectState(newest + 1, minimum: store.minimum)
            try store.migrate(down: nil, broken)
            try RegistryConformance.expect(try store.columns(), is: before, "the tables after the failure")
        },
        SchemaConformance("A migrator makes no registry where there is none") { store in
            for _ in 0..<2 {
                do {
                    _ = try store.state()
                    throw RegistryViolation("there is one")
                } catch is RegistryError {}
            }
        },
    ]

    static let rangeChecks = [
        SchemaConformance("A program within the range goes on after the registry was expanded") { store in
            let open = try store.open(.create, store.released)
            try store.migrate(up: store.released.newest + 2, store.extended)
            for (number, registry) in [open, try store.open(.readWrite, store.released)].enumerated() {
                try registry.upsert([try RegistryConformance.device("phone-\(number)")])
                try RegistryConformance.expect(try registry.schemaWarning(), is: nil, "the warning")
            }
            try RegistryConformance.expect(try open.deviceCount(), is: 2, "the devices")
        },
        SchemaConformance("A program below the range is refused in each mode, until the migration is undone") { store in
            _ = try store.open(.create, store.released)
            try store.migrate(up: nil, store.extended)
            let newest = store.released.newest
            for mode in [RegistryOpenMode.readOnly, .existing, .readWrite, .create] {
                try store.expectRefusal(.newerSchema, mentioning: "migrate --down --to \(newest)'") {
                    _ = try store.open(mode, store.released)
                }
            }
            _ = try store.open(.readWrite, SchemaMigrations(store.extended.all.dropLast()))
            try store.expectRefusal(.invalid, mentioning: "cannot undo what it does not know") {
                try store.migrate(down: newest, store.released)
            }
            try store.migrate(down: newest, store.extended)
            _ = try store.open(.readWrite, store.released)
        },
        SchemaConformance("A program that needs a newer registry is refused, and migrates nothing") { store in
            _ = try store.open(.create, store.released)
            let newest = store.released.newest
            let demanding = SchemaMigrations(store.extended.all, oldestUsable: newest + 1)
            for mode in [RegistryOpenMode.readOnly, .existing, .readWrite, .create] {
                try store.expectRefusal(.olderSchema, mentioning: "apus registry migrate") {
                    _ = try store.open(mode, demanding)
                }
            }
            try store.expectState(newest, minimum: store.minimum)
            try store.migrate(up: newest + 1, demanding)
            _ = try store.open(.readWrite, demanding)
        },
    ]

    static let concurrencyChecks = [
        SchemaConformance("Migrators that start at once do each migration once") { store in
            _ = try store.open(.create, store.released)
            let migrations = SchemaMigrations(store.extended.all.dropLast())
            let count = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try store.migrate(up: nil, migrations) } }
                return try await group.reduce(0, +)
            }
            try RegistryConformance.expect(count, is: 2, "the steps of all migrators")
            try store.expectState(store.released.newest + 2, minimum: store.minimum)
            // The second migration inserts a row: twice done, there would be two.
            try store.execute("CREATE UNIQUE INDEX note_once ON note (id)")
        },
        SchemaConformance("Programs that write while the registry is migrated up and down meet no error") { store in
            _ = try store.open(.create, store.released)
            let migrations = SchemaMigrations(store.extended.all.dropLast())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<2 {
                    group.addTask {
                        for number in 0..<15 {
                            let registry = try store.open(.create, store.released)
                            try registry.upsert([try RegistryConformance.device("phone-\(writer)-\(number)")])
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<3 {
                        try store.migrate(up: nil, migrations)
                        try store.migrate(down: store.released.newest, migrations)
                    }
                }
                try await group.waitForAll()
            }
            let registry = try store.open(.readOnly, store.released)
            try RegistryConformance.expect(try registry.deviceCount(), is: 30, "the devices")
        },
        SchemaConformance("A migrator that meets one that goes the other way gives up") { store in
            _ = try store.open(.create, store.released)
            let newest = store.released.newest
            let migrator = try store.migrator(store.extended)
            let plan = try MigrationPlan(up: try migrator.schemaState(), to: newest + 2, store.extended)
            _ = try migrator.perform(plan.steps[0])
            try store.migrate(down: newest, store.extended)
            try store.expectRefusal(.unavailable, mentioning: "version is \(newest), and \(newest + 1)") {
                _ = try migrator.perform(plan.steps[1])
            }
            try store.expectState(newest, minimum: store.minimum)
        },
    ]
}
