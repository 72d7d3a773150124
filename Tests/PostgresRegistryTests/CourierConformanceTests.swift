import PostgresRegistry
import PushCore
import PushTestKit
import Testing

struct CourierConformanceTests {
    @Test("The PostgreSQL registry keeps what the port of messages promises", arguments: CourierConformance.all)
    func postgresRegistryConforms(_ conformance: CourierConformance) async throws {
        try await Fixture.withRegistry { try conformance.check($0) }
    }
}
