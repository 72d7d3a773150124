/// How long a scenario may take, and how much memory all its processes may have resident, with the broker and others.
struct ScenarioLimits {
    var seconds: Double
    var mebibytes: Int
}
