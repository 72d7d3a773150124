import PushTestKit

extension Scenario {
    /// A service takes pushes and answers none, until every worker has said so.
    static func silentService(_ service: ServiceKind) -> Scenario {
        Scenario(
            name: "\(service.rawValue)-silent-service", domain: service.domain,
            sentence: "\(service.title): no push is answered until each worker says so, and stays ready",
            setting: Setting(services: [service], workerConfiguration: shortPushTimeout, loadSeconds: 12),
            redeliveries: 16
        ) { environment in
            try environment.service(service).control(#"{"fault":"silence"}"#)
            for worker in environment.workers {
                try await worker.waitForLog("app.failing")
                guard let answer = await worker.get("/readyz") else {
                    throw EnvironmentFailure("worker \(worker.number) does not answer /readyz")
                }
                let expected = ["\"degraded\"", "\(service.title) answers no push"]
                guard answer.status == 200, expected.allSatisfy({ answer.body.contains($0) }) else {
                    throw EnvironmentFailure("worker \(worker.number) is not degraded, and ready: \(answer)")
                }
            }
            try environment.endFaults(of: service)
            for worker in environment.workers { try await worker.waitForLog("app.recovered") }
            try await environment.waitUntilReady()
        }.impatient()
    }
}
