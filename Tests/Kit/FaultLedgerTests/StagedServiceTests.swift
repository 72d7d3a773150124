import PushTestKit
import Testing

@testable import FaultLedger

@Suite("A push service of the fault program")
struct StagedServiceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func start(_ kind: ServiceKind) async throws -> StagedService {
        try await StagedService.start(
            kind,
            StagedService.Stage(
                folder: folder, seed: 1, standingFaults: [kind.unavailable(probability: 0.02)],
                script: kind.goneLine("ab"), accessTokenSeconds: 60))
    }

    @Test("It comes back at the same ports with the same certificate", arguments: ServiceKind.allCases)
    func comesBack(_ kind: ServiceKind) async throws {
        let service = try await start(kind)
        let certificate = try service.running.trustAnchorPEM
        #expect(try folder.read("\(kind.rawValue).pem") == certificate)
        try await service.goDown()
        #expect(throws: EnvironmentFailure.self) { try service.control(#"{"fault":"silence"}"#) }
        try await service.comeBack()
        #expect(try service.running.stagedPorts == service.ports && service.running.trustAnchorPEM == certificate)
        await service.close()
    }

    @Test("It takes faults while it runs, and says how many happened", arguments: ServiceKind.allCases)
    func takesFaults(_ kind: ServiceKind) async throws {
        let service = try await start(kind)
        try service.control(kind.unavailable(probability: 1, retryAfterSeconds: 2))
        try service.behave(but: [])
        #expect(try await service.faultCount() == 0)
        await service.close()
    }
}
