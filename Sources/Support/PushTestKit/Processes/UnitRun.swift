import Glibc

/// A run of the unit tests, in which no test may start a process: `deploy/bin/run-tests --unit`.
public enum UnitRun {
    /// Whether this process is one, for tests that do without a part in it.
    public static let isOne = getenv("APUS_TESTS_START_NO_PROCESS") != nil

    /// Why a program is not started; nil if it may be.
    static func refusal(toStart program: String) -> String? {
        isOne ? "a unit run starts no process, so not \(program): enter the suite in deploy/bin/run-tests" : nil
    }
}
