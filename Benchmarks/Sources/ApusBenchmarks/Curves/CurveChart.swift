/// Draws a curve as SVG, readable on a light and on a dark page.
///
/// Text and lines have the colours of the reader's scheme, by a style sheet within the file. The numbers of the points
/// are in the CSV beside it.
struct CurveChart {
    private static let (width, height) = (640.0, 360.0)
    private static let (left, right, top, bottom) = (72.0, 24.0, 56.0, 52.0)
    private static let style = """
        text{font:12px system-ui,sans-serif;fill:#333}.t{font-size:15px;font-weight:600}
        .g{stroke:#ddd}.a{fill:none;stroke-width:2}
        .s0{stroke:#0a66c2;fill:#0a66c2}.s1{stroke:#c2410c;fill:#c2410c}
        .s2{stroke:#15803d;fill:#15803d}.s3{stroke:#7e22ce;fill:#7e22ce}
        .a{fill:none}text.l{stroke:none}
        @media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#444}
        .s0{stroke:#6cb6ff;fill:#6cb6ff}.s1{stroke:#fb923c;fill:#fb923c}
        .s2{stroke:#4ade80;fill:#4ade80}.s3{stroke:#c084fc;fill:#c084fc}.a{fill:none}}
        """

    private let curve: Curve
    private let xAxis: CurveAxis
    private let yAxis: CurveAxis

    /// A chart of a curve.
    init(_ curve: Curve) {
        self.curve = curve
        let points = curve.series.flatMap(\.points)
        xAxis = CurveAxis(points.map(\.x), isLogarithmic: curve.isLogarithmic)
        yAxis = CurveAxis(points.map(\.y), isLogarithmic: true)
    }

    /// The whole file.
    var svg: String {
        let label = Self.escaped("\(curve.title): \(curve.yTitle) by \(curve.xTitle)")
        return #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" role="img" aria-label="\#(label)">"#
            + "\n<style>\(Self.style)</style>\n" + frame + lines + legend + "</svg>\n"
    }

    /// The title, the grid and the marks of both axes.
    private var frame: String {
        var text = Self.text(curve.title, Self.left, 22, "t")
        let floor = Self.height - Self.bottom
        for mark in xAxis.marks {
            guard let x = x(mark) else { continue }
            text += Self.grid(x, Self.top, x, floor)
            text += Self.text(CurveNumber.short(mark), x, floor + 18, anchor: "middle")
        }
        for mark in yAxis.marks {
            guard let y = y(mark) else { continue }
            text += Self.grid(Self.left, y, Self.width - Self.right, y)
            text += Self.text(CurveNumber.short(mark), Self.left - 8, y + 4, anchor: "end")
        }
        let middle = (Self.left + Self.width - Self.right) / 2
        text += Self.text(curve.xTitle, middle, Self.height - 12, anchor: "middle")
        return text + Self.text(curve.yTitle, 8, Self.top - 12)
    }

    /// The lines with their points; a point that an axis cannot have is left out.
    private var lines: String {
        var text = ""
        for (index, series) in curve.series.enumerated() {
            let places = series.points.sorted { $0.x < $1.x }.compactMap { point in
                x(point.x).flatMap { x in y(point.y).map { (x: Self.number(x), y: Self.number($0)) } }
            }
            let path = places.map { "\($0.x),\($0.y)" }.joined(separator: " ")
            text += "<polyline class=\"s\(index % 4) a\" points=\"\(path)\"/>\n"
            for place in places {
                text += "<circle class=\"s\(index % 4)\" cx=\"\(place.x)\" cy=\"\(place.y)\" r=\"3\"/>\n"
            }
        }
        return text
    }

    /// The names of the lines, if there are several.
    private var legend: String {
        guard curve.series.count > 1 else { return "" }
        var text = ""
        for (index, series) in curve.series.enumerated() {
            let x = Self.width - Self.right - 150 * Double(curve.series.count - index)
            text += "<circle class=\"s\(index % 4)\" cx=\"\(Self.number(x))\" cy=\"40\" r=\"4\"/>\n"
            text += Self.text(series.name, x + 9, 44)
        }
        return text
    }

    private func x(_ value: Double) -> Double? {
        xAxis.place(value).map { Self.left + $0 * (Self.width - Self.left - Self.right) }
    }

    private func y(_ value: Double) -> Double? {
        yAxis.place(value).map { Self.height - Self.bottom - $0 * (Self.height - Self.top - Self.bottom) }
    }

    private static func number(_ value: Double) -> String { String((value * 10).rounded() / 10) }

    private static func grid(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
        "<line class=\"g\" x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\"/>\n"
    }

    private static func text(
        _ text: String, _ x: Double, _ y: Double, _ style: String = "l", anchor: String = "start"
    ) -> String {
        "<text class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\">"
            + escaped(text) + "</text>\n"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
