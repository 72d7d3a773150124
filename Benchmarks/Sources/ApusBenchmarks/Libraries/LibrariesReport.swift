/// The figures of a library beside ours, and the table of all.
struct LibrariesReport {
    private static let ours = "apus"

    let report: Report

    /// The name of a figure; `sender` is ours or a library.
    private static func name(_ quantity: String, _ library: SenderLibrary, _ sender: String) -> String {
        "\(quantity)_libraries_\(library.service)_\(sender)"
    }

    /// The name of our figure beside that of a library.
    static func name(_ quantity: String, beside library: SenderLibrary) -> String { name(quantity, library, ours) }

    /// Adds the medians of all rounds: ours beside the library's, and the library's beside ours.
    func add(_ library: SenderLibrary, ours: [LoadTool.Figures], theirs: [LoadTool.Figures]) {
        let quantities: [(String, String, (LoadTool.Figures) -> Double)] = [
            ("pushes_per_second", "1/s", \.perSecond), ("cpu_per_push", "µs", \.microseconds),
        ]
        for (quantity, unit, value) in quantities {
            let (our, their) = (Median.of(ours.map(value)), Median.of(theirs.map(value)))
            report.add(Self.name(quantity, library, Self.ours), our, unit, reference: their)
            report.add(Self.name(quantity, library, library.figureName), their, unit, reference: our)
        }
    }

    /// A table in Markdown with two lines for each push service, with those figures that are there.
    static func table(of results: [BenchmarkResult]) -> String {
        let figures = Dictionary(results.map { ($0.name, $0) }) { first, _ in first }
        func cell(_ quantity: String, _ library: SenderLibrary, _ sender: String, digits: Int) -> String {
            guard let figure = figures[name(quantity, library, sender)] else { return "—" }
            return BenchmarkDocuments.number(figure.value, digits: digits)
        }
        func ratio(_ library: SenderLibrary) -> String {
            guard let ratio = figures[name("cpu_per_push", beside: library)]?.ratio, ratio > 0 else { return "—" }
            return "\(BenchmarkDocuments.number(1 / ratio, digits: 0)) ×"
        }
        var text = "| push service | sender | pushes/s | CPU µs a push | beside Apus |\n|---|---|--:|--:|--:|\n"
        for library in SenderLibrary.allCases {
            for (sender, title, beside) in [
                (ours, "**Apus**, its client", ""), (library.figureName, library.title, ratio(library)),
            ] {
                let service = sender == ours ? library.serviceTitle : ""
                text += "| \(service) | \(title) | \(cell("pushes_per_second", library, sender, digits: 0))"
                text += " | \(cell("cpu_per_push", library, sender, digits: 1)) | \(beside) |\n"
            }
        }
        return text
    }
}
