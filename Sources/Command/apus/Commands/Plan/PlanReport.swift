import CapacityModel
import JSON

/// Prints a plan.
enum PlanReport {
    /// The plan for people: a line for each figure with its rule, the limit, and what needs a decision.
    static func lines(_ plan: CapacityPlan, isOwn: Bool) -> [String] {
        let rows = plan.figures.map { (title: $0.title, value: value($0), rule: $0.rule) }
        let titleWidth = rows.map(\.title.count).max() ?? 0
        let valueWidth = rows.map(\.value.count).max() ?? 0
        var lines = rows.map { row in
            row.title + blanks(titleWidth - row.title.count) + "  "
                + blanks(valueWidth - row.value.count) + row.value + "  " + row.rule
        }
        lines.append("limit: \(plan.limit)")
        lines += plan.warnings.map { "warning: \($0)" }
        lines.append("times: \(times(isOwn: isOwn))")
        return lines
    }

    /// The plan for programs.
    static func json(_ plan: CapacityPlan, isOwn: Bool) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("figures")
        writer.beginObject()
        for figure in plan.figures {
            writer.key(dynamic: figure.name)
            writer.beginObject()
            writer.key("value")
            writer.double(figure.value)
            writer.key("unit")
            writer.string(figure.unit)
            writer.key("rule")
            writer.string(figure.rule)
            writer.endObject()
        }
        writer.endObject()
        writer.key("limit")
        writer.string(plan.limit)
        writer.key("warnings")
        writer.beginArray()
        for warning in plan.warnings { writer.string(warning) }
        writer.endArray()
        writer.key("times")
        writer.string(times(isOwn: isOwn))
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
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

    private static func blanks(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
}
