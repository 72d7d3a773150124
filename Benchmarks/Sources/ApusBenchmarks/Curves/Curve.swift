/// How one cost grows with one quantity: the points of some series over the same quantity, in one unit.
struct Curve {
    /// One line of the chart.
    struct Series {
        /// The name of the line, and of its column.
        var name: String
        /// The measurements: the quantity and the cost of each.
        var points: [Point] = []
    }

    /// One thing that was measured.
    struct Point: Equatable {
        var x: Double
        var y: Double
    }

    /// The name of its files, without their ends.
    var name: String
    var title: String
    /// The quantity, with its unit.
    var xTitle: String
    /// The cost, with its unit.
    var yTitle: String
    /// The lines; each has some of the points.
    var series: [Series]
    /// Whether the quantity has a logarithmic axis, as the cost always has.
    var isLogarithmic = true

    /// A line for each quantity, with a column for each series; a cell is empty where nothing was measured.
    var csv: String {
        let quantities = Set(series.flatMap { $0.points.map(\.x) }).sorted()
        var text = ([xTitle] + series.map { "\($0.name): \(yTitle)" }).map(Self.cell).joined(separator: ",") + "\n"
        for quantity in quantities {
            let values = series.map { one in
                one.points.first { $0.x == quantity }.map { CurveNumber.exact($0.y) } ?? ""
            }
            text += ([CurveNumber.exact(quantity)] + values).joined(separator: ",") + "\n"
        }
        return text
    }

    /// A cell as RFC 4180 has it.
    private static func cell(_ text: String) -> String {
        text.contains { $0 == "," || $0 == "\"" || $0 == "\n" }
            ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text
    }
}

/// The numbers of curves as text.
enum CurveNumber {
    /// A number with four digits that count, or with all of those before the point.
    static func exact(_ value: Double) -> String {
        guard value.isFinite else { return "" }
        if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
        var scale = 1.0
        while abs(value) * scale < 1_000, scale < 1e9 { scale *= 10 }
        let rounded = (value * scale).rounded() / scale
        return rounded == rounded.rounded() && abs(rounded) < 1e15 ? String(Int64(rounded)) : String(rounded)
    }

    /// A short number for an axis: `200`, `10k`, `1M`.
    static func short(_ value: Double) -> String {
        for (limit, letter) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] where value >= limit {
            return exact(value / limit) + letter
        }
        return exact(value)
    }
}
