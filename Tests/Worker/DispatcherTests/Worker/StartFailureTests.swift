import RegistryCore
import Testing

@testable import Dispatcher

/// Tests of the error that a supervisor gets about a worker that does not start.
struct StartFailureTests {
    @Test(
        "Only what another start cannot change counts as a wrong configuration",
        arguments: [
            (RegistryError.Code.unavailable, WorkerError.Code.unavailable), (.readOnly, .unavailable),
            (.corrupt, .unavailable), (.failed, .unavailable), (.newerSchema, .configuration),
            (.olderSchema, .configuration), (.notFound, .configuration), (.invalid, .configuration),
            (.quotaExceeded, .configuration),
        ])
    func registryFailures(_ code: RegistryError.Code, _ expected: WorkerError.Code) {
        let error = WorkerError(starting: RegistryError(code, "why"))
        #expect(error.code == expected)
        #expect(error.message == "why")
    }
}
