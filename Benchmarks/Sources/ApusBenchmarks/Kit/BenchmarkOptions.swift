/// The options of the command line.
struct BenchmarkOptions {
    private(set) var bareConsumerPath = ""
    /// The folder with a program `worker` for each peer, in a folder of its name.
    private(set) var peersFolder = ""
    /// The folder with other versions of RabbitMQ, each with its programs in a folder `rabbitmq-VERSION/bin`.
    private(set) var partsFolder = ""
    private(set) var resultsPath: String?
    /// The root of the repository whose documents a whole run rewrites.
    private(set) var documentsFolder: String?
    /// Whether only the documents are written, from the figures of the last run.
    private(set) var writesDocumentsOnly = false
    /// How many devices the scenario `fanout` reaches with one event.
    private(set) var fanOutDevices = Scale.of(1_000_000, small: 5_000)
    /// The parts of the scenario `curves` to measure: all, if none is named.
    private(set) var curves: Set<CurvesScenario.Part> = []
    /// Whether curves have their far ends, too, each of which takes minutes.
    private(set) var hasFarEnds = false
    /// The committed instructions of each part, which the scenario `instructions` compares with.
    private(set) var instructionTablePath: String?
    /// Whether that scenario writes what it counts there, and compares nothing.
    private(set) var recordsInstructions = false
    /// The part whose work this process is to do, for its parent to count.
    private(set) var instructionPart: InstructionPart?
    /// The registry of that part.
    private(set) var instructionRegistry = ""
    /// The one that this process is to run itself.
    private(set) var scenarioOfProcess: BenchmarkScenario?
    private var named: [BenchmarkScenario] = []
    private var secondsMaximum: Double?
    private var mebibytesMaximum: Int?

    /// The scenarios to run: all, if none is named.
    var scenarios: [BenchmarkScenario] { isWhole ? BenchmarkScenario.allCases : named }
    /// Whether all are run.
    var isWhole: Bool { named.isEmpty }

    /// Returns the limits of a scenario: its own, as far as the command line names no others.
    func limits(of scenario: BenchmarkScenario) -> ScenarioLimits {
        ScenarioLimits(
            seconds: secondsMaximum ?? scenario.limits.seconds,
            mebibytes: mebibytesMaximum ?? scenario.limits.mebibytes)
    }

    init(_ arguments: [String]) throws(BenchmarkFailure) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--bare-consumer": bareConsumerPath = rest.popFirst() ?? ""
            case "--peers": peersFolder = rest.popFirst() ?? ""
            case "--parts": partsFolder = rest.popFirst() ?? ""
            case "--fan-out-devices": fanOutDevices = rest.popFirst().flatMap { Int($0) } ?? fanOutDevices
            case "--curve":
                guard let curve = rest.popFirst().flatMap(CurvesScenario.Part.init) else {
                    let all = CurvesScenario.Part.allCases.map(\.rawValue).joined(separator: ", ")
                    throw BenchmarkFailure(description: "--curve takes one of: \(all)")
                }
                curves.insert(curve)
            case "--far": hasFarEnds = true
            case "--seconds-maximum": secondsMaximum = rest.popFirst().flatMap { Double($0) } ?? secondsMaximum
            case "--mebibytes-maximum": mebibytesMaximum = rest.popFirst().flatMap { Int($0) } ?? mebibytesMaximum
            case "--results": resultsPath = rest.popFirst()
            case "--documents": documentsFolder = rest.popFirst()
            case "--documents-only": writesDocumentsOnly = true
            case "--small": break
            case "--instruction-table": instructionTablePath = rest.popFirst()
            case "--record": recordsInstructions = true
            case "--instruction-part": instructionPart = rest.popFirst().flatMap(InstructionPart.init)
            case "--instruction-registry": instructionRegistry = rest.popFirst() ?? ""
            case "--scenario-process": scenarioOfProcess = rest.popFirst().flatMap(BenchmarkScenario.init)
            default:
                guard let scenario = BenchmarkScenario(rawValue: argument) else {
                    throw BenchmarkFailure(description: "unknown argument \(argument); see main.swift")
                }
                named.append(scenario)
            }
        }
    }
}
