import Hashing
import PushCore

/// Plays workers against a broker, a registry and a push service with faults, in one thread and in a time of its own.
public enum WorkerSimulation {
    /// Makes all runs of this process replayable in others, byte by byte: to be called before the first.
    public static func makeReplayable() { WordDigest.fixSecretSeed(1) }

    /// Plays one run, until all events have ended or a promise is broken.
    ///
    /// - Parameters:
    ///   - options: what is played.
    ///   - trace: takes what happens to the events that are traced.
    ///   - progress: called now and then with the steps and the events so far; tells whether to go on.
    /// - Returns: what it came to.
    public static func play(
        _ options: SimulationOptions, trace: @escaping (String) -> Void = { _ in },
        progress: (_ steps: Int, _ events: Int) -> Bool = { _, _ in true }
    ) -> SimulationReport {
        let simulation = Simulation<PipelineMachine>(options)
        simulation.trace = trace
        return simulation.run(progress: progress)
    }
}
