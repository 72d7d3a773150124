import Glibc

/// Draws a chart of lines as SVG.
///
/// Colours are classes (`s0`, `s1`, …), which the page defines for light and dark. A point says its values when the
/// mouse rests on it.
struct LoadChart {
    /// One line.
    struct Series {
        /// Its name, in the legend.
        var name: String
        /// Its points, in the order of x.
        var points: [(x: Double, y: Double)]
        /// Whether it is drawn as dots, because several points may have the same x.
        var isDotted = false
    }

    /// How an axis is labelled and spaced.
    struct Axis {
        /// The name, with the unit.
        var name: String
        /// Whether each decade has the same length.
        var isLogarithmic = false
        /// The least distance of its lines.
        var stepMinimum = 0.0
        /// How a value is written.
        var text: (Double) -> String
        /// The values at which a line is drawn; nil for round ones.
        var ticks: [Double]?
    }

    private static let width = 720.0
    private static let height = 260.0
    private static let left = 64.0
    private static let right = 24.0
    private static let top = 12.0
    private static let bottom = 40.0
    /// More points have no text of their own, so that a page stays small.
    private static let pointTextsMaximum = 240

    var title: String
    var series: [Series]
    var x: Axis
    var y: Axis
    /// The first and the last x that the chart shows; nil for those of the points.
    var xRange: ClosedRange<Double>?
    /// A stretch of the x axis that is shaded, with its meaning.
    var shade: (until: Double, name: String)?

    /// The chart with its title and legend, as a part of a page.
    var html: String {
        let points = series.flatMap(\.points)
        guard let xMinimum = xRange?.lowerBound ?? points.map(\.x).min(),
            let xMaximum = xRange?.upperBound ?? points.map(\.x).max(), xMaximum > xMinimum
        else { return "" }
        let yTicks =
            y.ticks
            ?? (y.isLogarithmic
                ? Self.decades(points.map(\.y)) : Self.rounds(points.map(\.y), stepMinimum: y.stepMinimum))
        guard let yLow = yTicks.first, let yHigh = yTicks.last, yHigh > yLow else { return "" }
        let frame = Frame(x: xMinimum...xMaximum, y: yLow...yHigh, isLogarithmic: y.isLogarithmic)
        var svg =
            "<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\" aria-label=\""
            + "\(HTMLText.escaped(title))\">\n"
        if let shade, shade.until > xMinimum {
            let end = frame.across(min(shade.until, xMaximum))
            svg +=
                "<rect class=\"shade\" x=\"\(n(Self.left))\" y=\"\(n(Self.top))\" width=\"\(n(end - Self.left))\" "
                + "height=\"\(n(Self.height - Self.top - Self.bottom))\"><title>\(shade.name)</title></rect>\n"
        }
        svg += axes(frame, yTicks, xTicks: x.ticks ?? Self.rounds([xMinimum, xMaximum]))
        for (number, line) in series.enumerated() { svg += path(of: line, number, frame) }
        svg += "</svg>\n"
        let legend = series.enumerated().map { number, line in
            "<span class=\"s\(number)\">\(HTMLText.escaped(line.name))</span>"
        }
        return "<figure><figcaption>\(HTMLText.escaped(title))<span class=\"legend\">\(legend.joined())</span>"
            + "</figcaption>\n\(svg)</figure>\n"
    }

    /// Where values lie on the page.
    private struct Frame {
        var x: ClosedRange<Double>
        var y: ClosedRange<Double>
        var isLogarithmic: Bool

        func across(_ value: Double) -> Double {
            let share = (value - x.lowerBound) / (x.upperBound - x.lowerBound)
            return LoadChart.left + share * (LoadChart.width - LoadChart.left - LoadChart.right)
        }

        func down(_ value: Double) -> Double {
            let value = min(max(value, y.lowerBound), y.upperBound)
            let share =
                isLogarithmic
                ? (log(value) - log(y.lowerBound)) / (log(y.upperBound) - log(y.lowerBound))
                : (value - y.lowerBound) / (y.upperBound - y.lowerBound)
            return LoadChart.height - LoadChart.bottom
                - share * (LoadChart.height - LoadChart.top - LoadChart.bottom)
        }
    }

    private func axes(_ frame: Frame, _ yTicks: [Double], xTicks: [Double]) -> String {
        var svg = ""
        let end = Self.width - Self.right
        for tick in yTicks {
            let down = frame.down(tick)
            svg += "<line class=\"grid\" x1=\"\(n(Self.left))\" x2=\"\(n(end))\" y1=\"\(n(down))\" y2=\"\(n(down))\"/>"
            svg +=
                "<text x=\"\(n(Self.left - 6))\" y=\"\(n(down + 4))\" text-anchor=\"end\">"
                + "\(HTMLText.escaped(y.text(tick)))</text>\n"
        }
        for tick in xTicks where frame.x.contains(tick) {
            let across = frame.across(tick)
            svg +=
                "<text x=\"\(n(across))\" y=\"\(n(Self.height - Self.bottom + 16))\" text-anchor=\"middle\">"
                + "\(HTMLText.escaped(x.text(tick)))</text>\n"
        }
        svg +=
            "<text x=\"\(n((Self.left + end) / 2))\" y=\"\(n(Self.height - 6))\" text-anchor=\"middle\">"
            + "\(HTMLText.escaped(x.name))</text>\n"
        return svg
    }

    private func path(of line: Series, _ number: Int, _ frame: Frame) -> String {
        let shown = line.points.filter { frame.x.contains($0.x) && (!y.isLogarithmic || $0.y > 0) }
        guard !shown.isEmpty else { return "" }
        let places = shown.map { "\(n(frame.across($0.x))),\(n(frame.down($0.y)))" }
        let polyline = "<polyline class=\"s\(number)\" points=\"\(places.joined(separator: " "))\"/>\n"
        var svg = line.isDotted ? "" : polyline
        guard line.isDotted || shown.count <= Self.pointTextsMaximum else { return svg }
        for point in shown {
            let (across, down) = (n(frame.across(point.x)), n(frame.down(point.y)))
            let text = HTMLText.escaped("\(line.name): \(y.text(point.y)) at \(x.text(point.x))")
            svg +=
                "<circle class=\"s\(number)\(line.isDotted ? " dot" : "")\" cx=\"\(across)\" cy=\"\(down)\" r=\"3\">"
                + "<title>\(text)</title></circle>\n"
        }
        return svg
    }

    /// Four to eight round values, from 0 to at least the largest of these.
    static func rounds(_ values: [Double], stepMinimum: Double = 0) -> [Double] {
        let maximum = max(values.max() ?? 0, stepMinimum, 1e-9)
        let decade = pow(10, floor(log10(maximum)))
        let step = max(stepMinimum, [0.2, 0.5, 1, 2].map { $0 * decade }.first { maximum / $0 <= 6 } ?? 2 * decade)
        return (0...Int((maximum / step).rounded(.up))).map { Double($0) * step }
    }

    /// The powers of ten around all positive ones of these.
    static func decades(_ values: [Double]) -> [Double] {
        let positive = values.filter { $0 > 0 }
        let low = floor(log10(positive.min() ?? 1))
        let high = max(low + 1, ceil(log10(positive.max() ?? 10)))
        return stride(from: low, through: high, by: 1).map { pow(10, $0) }
    }

    private func n(_ number: Double) -> String { DurationText.fixed(number, decimals: 1) }
}

/// Text in a page.
enum HTMLText {
    /// The text with all characters escaped that mean something in HTML.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
