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
            // Without the usual 503 now and then, which is an answer.
            try environment.service(service).behave(but: [#"{"fault":"silence"}"#])
            let words = ["\"degraded\"", "\(service.title) answers no push"]
            for worker in environment.workers {
                try await eventually("\(worker.name) to say that \(service.title) is silent") {
                    guard let answer = await worker.get("/readyz") else { return false }
                    return answer.status == 200 && words.allSatisfy { answer.body.contains($0) }
                }
                try await worker.waitForLog("app.failing")
            }
            try environment.endFaults(of: service)
            for worker in environment.workers { try await worker.waitForLog("app.recovered") }
            try await environment.waitUntilReady()
        }.impatient()
    }
}
