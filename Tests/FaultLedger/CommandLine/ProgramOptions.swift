/// The options of the command line.
struct ProgramOptions: Sendable {
    /// Why a command line cannot be understood.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// The scenarios to play, in order.
    var scenarios: [Scenario] = []
    /// The seed of all random draws; nil for a drawn seed.
    var seed: UInt64?
    /// How long the load lasts; nil for what each scenario says.
    var loadSeconds: Double?
    /// Whether faults that last are to be shorter.
    var isShort = false
    /// Whether only the names are asked for.
    var listsScenarios = false
    /// Whether only the help is asked for.
    var showsHelp = false
    /// Whether results are written as JSON.
    var isJSON = false
    /// Whether the folders of valid scenarios are kept as well.
    var keepsFolders = false

    /// The options of an empty command line.
    init() {}

    /// Reads a command line.
    ///
    /// - Parameter arguments: the arguments after the name of the program.
    /// - Throws: `Problem` with the argument that is wrong.
    init(_ arguments: [String]) throws(Problem) {
        var names: [String] = []
        var rest = arguments[...]
        func value(of option: String) throws(Problem) -> String {
            guard let value = rest.popFirst() else { throw Problem(description: "\(option) needs a value") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--scenario":
                names.append(try value(of: argument))
                while let next = rest.first, !next.hasPrefix("-") {
                    names.append(next)
                    rest.removeFirst()
                }
            case "--seed":
                let text = try value(of: argument)
                guard let seed = UInt64(text) else { throw Problem(description: "--seed takes a number, not \(text)") }
                self.seed = seed
            case "--seconds":
                let text = try value(of: argument)
                guard let seconds = Double(text), (1...86_400).contains(seconds) else {
                    throw Problem(description: "--seconds takes a number from 1 to 86400, not \(text)")
                }
                loadSeconds = seconds
            case "--list": listsScenarios = true
            case "--json": isJSON = true
            case "--short": isShort = true
            case "--keep": keepsFolders = true
            case "--help", "-h": showsHelp = true
            default: throw Problem(description: "unknown argument \(argument)")
            }
        }
        scenarios = try Self.select(names, isShort: isShort)
        if isShort, loadSeconds == nil { loadSeconds = 4 }
    }

    private static func select(_ names: [String], isShort: Bool) throws(Problem) -> [Scenario] {
        guard !names.isEmpty else { return isShort ? Scenario.all.filter(\.isShort) : Scenario.all }
        var selected: [Scenario] = []
        for name in names {
            let found = (Scenario.all + Scenario.onRequest).filter { $0.name == name || $0.domain.rawValue == name }
            guard !found.isEmpty else { throw Problem(description: "no scenario is called \(name); see --list") }
            selected += found
        }
        return selected
    }
}

/// The text of `--help`.
enum HelpText {
    static let text = """
        usage: deploy/bin/fault [--scenario NAME...] [--seed N] [--seconds N] [--short] [--list] [--json] [--keep]

        Proves that nothing is lost: for each scenario it starts a private RabbitMQ, simulators
        of push services, a registry and workers, publishes a steady load with confirms, brings
        about a fault in the middle of it, waits until all is settled, and compares what the
        broker confirmed with what the simulators accepted.

          --scenario NAME  play only these; also worker, broker, network, registry, outbox, apns,
                           fcm, webpush, services or calls; soak runs only when it is named
          --seed N         replay a run: the same load, the same moments, the same victims
          --seconds N      how long the load lasts; by default what each scenario says
          --short          a few quick scenarios
          --list           print the names and what each does
          --json           a line of JSON for each scenario instead of the table
          --no-build       use what deploy/bin/fault built last
          --keep           keep configuration, record and logs of valid scenarios as well

        The columns count events that were attempted, confirmed by the broker, and of the confirmed
        ones those that were delivered, queued (left in a queue), dead letters, destroyed (by a
        scenario that deletes the queue they were in) or lost; then pushes that no event asked
        for (unexpected) and that came again (duplicated), with the bound that the fault explains; and
        the seconds from the end of the fault until its backlog was pushed. The lines of a run also
        count alerts that came again and stand on the device beside the first (shown twice), and
        accepted pushes that the backend was not told of (untold), or was told of again.

        A scenario is valid if nothing was lost, unexpected, untold or shown twice, if pushes and
        what is told of them came again within the bound, and no process ended that should not have.
        The exit status is 0 only if all are valid. A failing one prints its seed and the command that replays it, and
        keeps its folder: apus.toml, the records of the simulators and the workers' logs.
        """
}
