import RegistryCore
import Testing

struct MigrationPlanTests {
    private let migrations = SchemaMigrations([
        MigrationPlanTests.migration(1, minimum: 1, down: nil),
        MigrationPlanTests.migration(2, minimum: 1, down: "-2"),
        MigrationPlanTests.migration(3, minimum: 2, down: "-3"),
    ])

    private static func migration(_ version: Int64, minimum: Int64, down: String?) -> SchemaMigration {
        SchemaMigration(
            version: version, summary: "number \(version)", impact: "", minimumProgramSchema: minimum,
            up: "+\(version)", down: down)
    }

    private func state(_ version: Int64, minimum: Int64 = 1) -> SchemaState {
        SchemaState(version: version, minimumProgramSchema: minimum)
    }

    private func expectInvalid(mentioning words: String..., body: () throws -> MigrationPlan) {
        let error = #expect(throws: RegistryError.self) { try body() }
        #expect(error?.code == .invalid)
        for word in words { #expect(error?.message.contains(word) == true, "\(error?.message ?? "")") }
    }

    @Test("The way up does what is missing, in order, and says the schema after each step")
    func up() throws {
        let plan = try MigrationPlan(up: state(1), to: nil, migrations)
        #expect(plan.steps.map(\.statements) == ["+2", "+3"])
        #expect(plan.steps.map(\.stateAfter) == [state(2), state(3, minimum: 2)])
        #expect(plan.steps.map(\.versionBefore) == [1, 2])
        #expect(try MigrationPlan(up: state(1), to: 2, migrations).steps.map(\.statements) == ["+2"])
        #expect(try MigrationPlan(up: state(3, minimum: 2), to: nil, migrations).steps.isEmpty)
        #expect(try MigrationPlan(up: state(.max), to: nil, migrations).steps.isEmpty)
    }

    @Test("The way down undoes the newest first, one migration unless a version is given")
    func down() throws {
        #expect(try MigrationPlan(down: state(3), to: nil, migrations).steps.map(\.statements) == ["-3"])
        let plan = try MigrationPlan(down: state(3), to: 1, migrations)
        #expect(plan.steps.map(\.statements) == ["-3", "-2"])
        #expect(plan.steps.map(\.stateAfter) == [state(2), state(1)])
        #expect(try MigrationPlan(down: state(2), to: 2, migrations).steps.isEmpty)
    }

    @Test("An impossible way is refused with the versions and what to do")
    func impossible() {
        expectInvalid(mentioning: "version 4", "1 to 3") { try MigrationPlan(up: state(1), to: 4, migrations) }
        expectInvalid(mentioning: "no schema version 0") { try MigrationPlan(up: state(1), to: 0, migrations) }
        expectInvalid(mentioning: "above 1", "--down") { try MigrationPlan(up: state(3), to: 1, migrations) }
        expectInvalid(mentioning: "below 3", "--down") { try MigrationPlan(down: state(2), to: 3, migrations) }
        expectInvalid(mentioning: "no schema version -1") { try MigrationPlan(down: state(2), to: -1, migrations) }
        expectInvalid(mentioning: "number 1", "cannot be undone") {
            try MigrationPlan(down: state(1), to: nil, migrations)
        }
        expectInvalid(mentioning: "version 9", "only 3") { try MigrationPlan(down: state(9), to: 1, migrations) }
    }

    @Test("A step that another process has done is passed over, and one that went the other way ends the migration")
    func overtaken() throws {
        let up = try MigrationPlan(up: state(1), to: 2, migrations).steps[0]
        #expect(try !up.isDone(in: state(1)))
        #expect(try up.isDone(in: state(2)))
        #expect(try up.isDone(in: state(3)))
        let second = try MigrationPlan(up: state(2), to: 3, migrations).steps[0]
        #expect(throws: RegistryError.self) { try second.isDone(in: state(1)) }
        let down = try MigrationPlan(down: state(2), to: 1, migrations).steps[0]
        #expect(try !down.isDone(in: state(2)))
        #expect(try down.isDone(in: state(1)))
        #expect(throws: RegistryError.self) { try down.isDone(in: state(3)) }
    }

    @Test("Program and registry each declare a range, and both must hold")
    func ranges() throws {
        let demanding = SchemaMigrations(migrations.all, oldestUsable: 2)
        try demanding.requireUsable(state(2), registry: "r")
        try demanding.requireUsable(state(9, minimum: 3), registry: "r")
        let newer = #expect(throws: RegistryError.self) {
            try demanding.requireUsable(state(9, minimum: 4), registry: "r")
        }
        #expect(newer?.code == .newerSchema)
        let older = #expect(throws: RegistryError.self) { try demanding.requireUsable(state(1), registry: "r") }
        #expect(older?.code == .olderSchema)
    }
}
