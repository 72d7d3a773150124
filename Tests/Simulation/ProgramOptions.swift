import WorkerSimulation

/// The options of the command line.
struct ProgramOptions: Sendable {
    /// Why a command line cannot be understood.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// The seed of the first run; nil for one that is drawn.
    var seed: UInt64?
    /// How many events each run publishes.
    var eventCount = 20_000
    /// The faults of the runs; nil for all.
    var faults: [SimulatedFault]?
    /// How many runs there are.
    var runCount = 1
    /// How long runs follow each other, in minutes; nil for `runCount` of them.
    var minutes: Int?
    /// The events of which is said what happens to them.
    var tracedEvents: Set<Int> = []
    /// Whether only the help is asked for.
    var showsHelp = false

    /// Reads a command line.
    ///
    /// - Parameter arguments: the arguments after the name of the program.
    /// - Throws: `Problem` with the argument that is wrong.
    init(_ arguments: [String]) throws(Problem) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--seed":
                let text = try Self.value(of: argument, &rest)
                guard let seed = UInt64(text) else { throw Problem(description: "--seed takes a number, not \(text)") }
                self.seed = seed
            case "--events": eventCount = try Self.number(of: argument, 1...100_000_000, &rest)
            case "--runs": runCount = try Self.number(of: argument, 1...1_000_000_000, &rest)
            case "--minutes": minutes = try Self.number(of: argument, 1...100_000, &rest)
            case "--faults": faults = try Self.faults(try Self.value(of: argument, &rest))
            case "--trace":
                for text in try Self.value(of: argument, &rest).split(separator: ",") {
                    guard let event = Int(text) else {
                        throw Problem(description: "--trace takes numbers, not \(text)")
                    }
                    tracedEvents.insert(event)
                }
            case "--help", "-h": showsHelp = true
            default: throw Problem(description: "unknown argument \(argument)")
            }
        }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Problem) -> String {
        guard let value = rest.popFirst() else { throw Problem(description: "\(option) needs a value") }
        return value
    }

    private static func number(
        of option: String, _ range: ClosedRange<Int>, _ rest: inout ArraySlice<String>
    ) throws(Problem) -> Int {
        let text = try value(of: option, &rest)
        guard let number = Int(text), range.contains(number) else {
            throw Problem(
                description: "\(option) takes a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return number
    }

    private static func faults(_ list: String) throws(Problem) -> [SimulatedFault] {
        var faults: [SimulatedFault] = []
        for name in list.split(separator: ",") where name != "none" {
            guard let fault = SimulatedFault(rawValue: String(name)) else {
                throw Problem(description: "there is no fault \(name); see --help")
            }
            faults.append(fault)
        }
        return faults
    }
}

/// The text of `--help`.
enum HelpText {
    static let text = """
        usage: worker-simulation [--seed N] [--events N] [--faults LIST] [--runs N] [--minutes N]
                                [--trace LIST] [--help]

        Plays workers against models of RabbitMQ, registry, APNs, clocks and the end of processes, in one
        thread and in a time of its own, and holds them to the promise after each step: a confirmed event
        ends, nothing is settled before its pushes, windows are bounded, no app starves, no device is
        removed that APNs serves. All that is drawn follows from the seed, so a run can be replayed.

          --seed N       the seed of the first run; the next has the next number
          --events N     how many events each run publishes (20000 if not given)
          --faults LIST  what goes wrong, with commas between, or none; all if not given
          --runs N       how many runs (1 if not given)
          --minutes N    runs until so many minutes have passed
          --trace LIST   say what happens to these events, by number, with commas between

        The faults are
          \(SimulatedFault.allCases.map(\.rawValue).joined(separator: ", ")).

        The first broken promise ends it, with the command that replays the run. The exit status is 0 if
        all promises were kept, 1 if one was broken, 64 if the command line is wrong.
        """
}
