import Foundation

/// How cost grows: each curve from a few points over some powers of ten, as CSV and as SVG.
///
/// A point takes a few seconds at most. The files go to `Benchmarks/curves` of the documents' folder, with small counts
/// to the workbench's own. The ends of each curve are figures of the report.
struct CurvesScenario {
    let bench: Workbench
    let report: Report

    /// The parts that can be measured alone, in the order in which they are.
    enum Part: String, CaseIterable {
        case payload, distance, subscriptions, devices, audience, replicas, dead, apps, check
    }

    func run() async throws {
        let wanted = bench.options.curves
        for part in Part.allCases where wanted.isEmpty || wanted.contains(part) {
            switch part {
            case .payload: try await showPayload()
            case .distance: try await showDistance()
            case .subscriptions: try showSubscriptions()
            case .devices: try await showDevices()
            case .audience: try await showAudience()
            case .replicas: try await showReplicas()
            case .dead: try await showDeadTokens()
            case .apps: try await showApps()
            case .check: try await checkModel()
            }
        }
    }

    /// The far end of a curve, if it is asked for: too many for a whole run.
    var farEnd: [Int] { bench.options.hasFarEnds ? [Scale.of(10_000_000, small: 10_000)] : [] }

    /// Writes both files of a curve, and reports the ends of its series.
    func show(_ curve: Curve) throws {
        let isKept = bench.options.documentsFolder != nil && !Scale.isSmall
        let folder = (isKept ? bench.options.documentsFolder ?? "." : bench.folder) + "/Benchmarks/curves"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try curve.csv.write(toFile: "\(folder)/\(curve.name).csv", atomically: true, encoding: .utf8)
        try CurveChart(curve).svg.write(toFile: "\(folder)/\(curve.name).svg", atomically: true, encoding: .utf8)
        for series in curve.series {
            guard let first = series.points.first, let last = series.points.last else {
                throw BenchmarkFailure(description: "the curve \(curve.name) has no point of \(series.name)")
            }
            let name = "curve_\(curve.name)_\(series.name)".replacing(" ", with: "_").replacing("-", with: "_")
            let unit = curve.yTitle.split(separator: " ").last.map(String.init) ?? ""
            report.add(
                "\(name)_from_\(CurveNumber.short(first.x))_to_\(CurveNumber.short(last.x))", last.y, unit,
                reference: first.y)
        }
    }
}
