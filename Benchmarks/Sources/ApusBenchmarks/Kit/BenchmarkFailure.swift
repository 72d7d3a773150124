/// Why a scenario has no figures.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String
}
