/// What the command line asks for.
struct BenchmarkOptions {
    private(set) var apusPath = ""
    private(set) var bareConsumerPath = ""
    private(set) var peerPythonPath = ""
    private(set) var peerScriptPath = ""
    private(set) var resultsPath: String?
    /// How many devices the scenario `fanout` reaches with one event.
    private(set) var fanOutDevices = 1_000_000
    private var scenarios: [String] = []

    private static let scenarioNames = [
        "client", "distance", "peer", "allocations", "micro", "matching", "pipeline", "subscriptions", "worker",
        "replicas", "queues", "latency", "fanout", "fairness", "isolation", "memory",
    ]

    init(_ arguments: [String]) throws(ChildProcess.Failure) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--apus": apusPath = rest.popFirst() ?? ""
            case "--bare-consumer": bareConsumerPath = rest.popFirst() ?? ""
            case "--peer-python": peerPythonPath = rest.popFirst() ?? ""
            case "--peer-script": peerScriptPath = rest.popFirst() ?? ""
            case "--fan-out-devices": fanOutDevices = rest.popFirst().flatMap { Int($0) } ?? fanOutDevices
            case "--results": resultsPath = rest.popFirst()
            case _ where Self.scenarioNames.contains(argument): scenarios.append(argument)
            default: throw ChildProcess.Failure(description: "unknown argument \(argument); see main.swift")
            }
        }
    }

    func wants(_ scenario: String) -> Bool { scenarios.isEmpty || scenarios.contains(scenario) }
}
