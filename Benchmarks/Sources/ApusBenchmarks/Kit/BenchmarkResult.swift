/// One figure, beside its reference and its budget.
struct BenchmarkResult: Codable {
    /// What was measured: `<unit>_<scenario>`.
    var name: String
    /// The scenario that measured it; the supervisor of the scenarios enters it.
    var scenario: String?
    /// The figure.
    var value: Double
    /// Its unit.
    var unit: String
    /// The reference's figure from the same run; nil if there is none.
    var reference: Double?
    /// `value / reference`.
    var ratio: Double?
    /// What the ratio (or, without a reference, the value) has to respect, in words, for example `≤ 1.2 ×`.
    var budget: String?
    /// Whether it does.
    var met: Bool?
    /// The machine: processor, cores, kernel.
    var machine = Machine.description
    /// The commit that was measured; the supervisor of the scenarios enters it.
    var commit = ""
    /// The day, UTC.
    var date = Machine.date
}
