import CapacityModel

/// Prints a plan.
enum PlanReport {
    /// The plan for people: a line for each figure with its rule, the limit, and what needs a decision.
    static func lines(_ plan: CapacityPlan, isOwn: Bool) -> [String] {
        let rows = plan.figures.map { [$0.title, value($0), $0.rule] }
        var lines = TextTable.lines(rows, leftColumns: [0, 2])
        lines.append("limit: \(plan.limit)")
        lines += plan.warnings.map { "warning: \($0)" }
        lines.append("times: \(times(isOwn: isOwn))")
        return lines
    }

    /// The plan for programs.
    static func report(_ plan: CapacityPlan, isOwn: Bool) -> Report {
        let figures = plan.figures.map { figure in
            let parts: Report = ["value": figure.value, "unit": figure.unit, "rule": figure.rule]
            return Report.Field(figure.name, parts)
        }
        return [
            "figures": Report(figures), "limit": plan.limit, "warnings": plan.warnings, "times": times(isOwn: isOwn),
        ]
    }

    private static func times(isOwn: Bool) -> String {
        isOwn
            ? "your own processor time of a push; the other times are scaled with it"
            : "measured on \(CapacityCoefficients.machine); give your own with --cpu-per-push-us"
    }

    private static func value(_ figure: CapacityPlan.Figure) -> String {
        switch figure.unit {
        case "B": CapacityText.bytes(figure.value)
        case "": CapacityText.number(figure.value)
        default: CapacityText.number(figure.value) + " " + figure.unit
        }
    }
}
