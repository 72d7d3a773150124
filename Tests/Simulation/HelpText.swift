import WorkerSimulation

/// What `--help` says.
enum HelpText {
    static let text = """
        usage: worker-simulation [--seed N] [--events N] [--faults LIST] [--runs N] [--minutes N]
                                [--trace LIST] [--help]

        Plays workers against models of RabbitMQ, registry, APNs, clocks and the end of processes, in one
        thread and in a time of its own, and holds them to the promise after each step: a confirmed event
        ends, nothing is settled before its pushes, windows are bounded, nobody starves, no device is
        removed that APNs serves. All that is drawn follows from the seed, so a run can be replayed.

          --seed N       the seed of the first run; the next has the next number
          --events N     how many events each run publishes (20000 if not given)
          --faults LIST  what goes wrong, with commas between, or none; all if not given
          --runs N       how many runs (1 if not given)
          --minutes N    runs until so many minutes have passed
          --trace LIST   say what happens to these events, by number, with commas between

        The faults are
          \(Fault.allCases.map(\.rawValue).joined(separator: ", ")).

        The first broken promise ends it, with the command that replays the run. The exit status is 0 if
        all promises were kept, 1 if one was broken, 64 if the command line is wrong.
        """
}
