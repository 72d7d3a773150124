internal import Essentials
import Glibc

/// Writes a result as a page of HTML that needs nothing beside itself: no script, no font, no network.
public enum LoadPage {
    /// The page of a result.
    ///
    /// - Parameters:
    ///   - result: the result; of a search, that of the best rate.
    ///   - search: the search for the capacity, if there was one.
    /// - Returns: the whole document.
    public static func html(of result: LoadResult, _ search: CapacitySearch?) -> String {
        var page = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>apus load</title>
            <style>\(style)</style></head><body><main>
            <h1>apus load</h1>
            <p class="when">\(HTMLText.escaped(WallTime.text(milliseconds: result.startedAtMilliseconds)))</p>

            """
        page += figures(of: result)
        if let search { page += capacity(search) }
        for warning in result.warnings { page += "<p class=\"bad\">\(HTMLText.escaped(warning))</p>\n" }
        page += latencies(of: result)
        page += charts(of: result)
        page += settings(of: result)
        return page + "</main></body></html>\n"
    }

    // MARK: Figures and tables

    private static func figures(of result: LoadResult) -> String {
        let p99 = DurationText.of(result.pushLatency.percentile(0.99))
        let tiles: [(String, String)] = [
            ("published", LoadText.rate(result.publishedPerSecond)), ("pushed", LoadText.rate(result.pushedPerSecond)),
            ("p50 to the push", DurationText.of(result.pushLatency.percentile(0.5))), ("p99", p99),
            ("longest", DurationText.of(result.pushLatency.maximum)),
        ]
        let tilesHTML = tiles.map { "<div><b>\(HTMLText.escaped($0.1))</b>\(HTMLText.escaped($0.0))</div>" }
        let errors = LoadText.errors(of: result)
        let verdict =
            errors == "none"
            ? "<p class=\"good\">Each of \(result.totals.pushes) expected pushes came once.</p>"
            : "<p class=\"bad\">Errors: \(HTMLText.escaped(errors)).</p>"
        return "<div class=\"tiles\">\(tilesHTML.joined())</div>\n\(verdict)\n"
    }

    private static func capacity(_ search: CapacitySearch) -> String {
        let lines = LoadText.lines(of: search).map { "<p>\(HTMLText.escaped($0))</p>" }
        let rows = search.steps.map { step -> String in
            let reason = if case .failed(let reason) = step.verdict { reason } else { "held" }
            return "<tr><td>\(LoadText.rate(step.perSecond))</td><td>\(DurationText.of(step.microseconds))</td>"
                + "<td class=\"text\">\(HTMLText.escaped(reason))</td></tr>"
        }
        let header = "<tr><th>events</th><th>\(search.limit.name)</th><th class=\"text\">verdict</th></tr>"
        return "<h2>Capacity</h2>\n\(lines.joined())\n<table>\(header)\(rows.joined())</table>\n"
            + knee(search).html + "<p>The rest of this page is the last run at the highest rate that held.</p>\n"
    }

    /// The latency at each rate, and the limit.
    private static func knee(_ search: CapacitySearch) -> LoadChart {
        let steps = search.steps.sorted { $0.perSecond < $1.perSecond }.filter { $0.microseconds > 0 }
        let limit = search.limit
        let rates: [Double] = [0, steps.last?.perSecond ?? 0]
        return LoadChart(
            title: "\(limit.name) by rate",
            series: [
                .init(name: limit.name, points: steps.map { ($0.perSecond, Double($0.microseconds)) }, isDotted: true),
                .init(name: "limit", points: rates.map { ($0, Double(limit.microseconds)) }),
            ],
            x: LoadChart.Axis(name: "events a second", text: shortNumber),
            y: LoadChart.Axis(name: "", isLogarithmic: true, text: { DurationText.of(UInt64(max(0, $0))) }),
            xRange: rates[1] > 0 ? 0...rates[1] : nil)
    }

    private static func latencies(of result: LoadResult) -> String {
        let header = (LoadResult.shares.map(\.name) + ["max", "mean"]).map { "<th>\($0)</th>" }.joined()
        let rows = result.latencyRows.map { name, histogram in
            let values =
                LoadResult.shares.map { histogram.percentile($0.share) } + [histogram.maximum, UInt64(histogram.mean)]
            let cells = values.map { "<td>\(histogram.count == 0 ? "–" : DurationText.of($0))</td>" }.joined()
            let style = name.hasPrefix(" ") ? "text part" : "text"
            return "<tr><td class=\"\(style)\">\(name)</td>\(cells)</tr>"
        }
        return "<h2>Latency</h2>\n<table><tr><th></th>\(header)</tr>\(rows.joined())</table>\n"
            + "<p>All times run from the moment when an event was <em>meant</em> to be published, so a delay of the "
            + "load generator or of RabbitMQ counts as well. “Publishing late by” is the part before "
            + "the event was handed over: this machine was busy, or too many events awaited their confirm.</p>\n"
    }

    private static func settings(of result: LoadResult) -> String {
        let rows = result.settings.map { name, value in
            "<tr><td class=\"text\">\(HTMLText.escaped(name))</td>"
                + "<td class=\"text\">\(HTMLText.escaped(value))</td></tr>"
        }
        return "<h2>Settings</h2>\n<table>\(rows.joined())</table>\n"
    }

    // MARK: Charts

    private static func charts(of result: LoadResult) -> String {
        let samples = thinned(result.samples)
        let warmUp = samples.last { !$0.isMeasured }?.seconds
        let seconds = LoadChart.Axis(
            name: "seconds since the start", text: { DurationText.fixed($0, decimals: 0) + " s" })
        let shade = warmUp.map { (until: $0, name: "warming up, not measured") }
        func line(_ name: String, _ value: (LoadSample) -> Double) -> LoadChart.Series {
            LoadChart.Series(name: name, points: samples.map { ($0.seconds, value($0)) })
        }
        let range = samples.last.map { 0...max(1, $0.seconds) }
        let count = LoadChart.Axis(name: "", stepMinimum: 1, text: shortNumber)
        let duration = LoadChart.Axis(name: "", isLogarithmic: true, text: { DurationText.of(UInt64(max(0, $0))) })
        var charts = [
            LoadChart(
                title: "Rates, a second",
                series: [line("events published") { $0.publishedPerSecond }, line("pushes") { $0.pushedPerSecond }],
                x: seconds, y: count, xRange: range, shade: shade),
            LoadChart(
                title: "Publish to push, of the pushes of each second",
                series: [
                    line("p50") { Double($0.p50) }, line("p99") { Double($0.p99) }, line("max") { Double($0.maximum) },
                ], x: seconds, y: duration, xRange: range, shade: shade),
            LoadChart(
                title: "Waiting",
                series: [
                    line("in the work queues") { Double($0.queue?.work ?? 0) },
                    line("fan-out and retry queues") { Double(($0.queue?.fanOut ?? 0) + ($0.queue?.retry ?? 0)) },
                    line("events without a confirm") { Double($0.unconfirmed) },
                ], x: seconds, y: count, xRange: range, shade: shade),
        ]
        charts.append(percentiles(of: result, duration))
        return "<h2>Over time</h2>\n" + charts.map(\.html).joined()
    }

    /// The latency of each percentile, with the far end stretched: each nine has the same width.
    private static func percentiles(of result: LoadResult, _ duration: LoadChart.Axis) -> LoadChart {
        let nines = max(2, min(5, log10(Double(max(10, result.pushLatency.count)))))
        let steps = 60
        let series = result.latencies.filter { $0.histogram.count > 0 }.map { name, _, histogram in
            LoadChart.Series(
                name: name,
                points: (0...steps).map { step in
                    let x = nines * Double(step) / Double(steps)
                    return (x, Double(max(1, histogram.percentile(1 - pow(10, -x)))))
                })
        }
        let names = ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"]
        return LoadChart(
            title: "Latency by percentile", series: series,
            x: LoadChart.Axis(
                name: "share of all events or pushes that took no longer",
                text: { value in
                    let isWhole = value == value.rounded()
                    if isWhole, names.indices.contains(Int(value)) { return names[Int(value)] }
                    return DurationText.fixed(100 * (1 - pow(10, -value)), decimals: 3) + " %"
                }, ticks: (0...5).map(Double.init)), y: duration, xRange: 0...nines)
    }

    /// At most three hundred samples: of each group the last one, with the longest latencies of the group.
    private static func thinned(_ samples: [LoadSample]) -> [LoadSample] {
        let size = (samples.count + 299) / 300
        guard size > 1 else { return samples }
        return stride(from: 0, to: samples.count, by: size).compactMap { start in
            let group = samples[start..<min(samples.count, start + size)]
            guard var sample = group.last else { return nil }
            sample.publishedPerSecond = group.reduce(0) { $0 + $1.publishedPerSecond } / Double(group.count)
            sample.pushedPerSecond = group.reduce(0) { $0 + $1.pushedPerSecond } / Double(group.count)
            sample.p99 = group.map(\.p99).max() ?? 0
            sample.maximum = group.map(\.maximum).max() ?? 0
            return sample
        }
    }

    private static func shortNumber(_ number: Double) -> String {
        if number >= 1_000_000 { return DurationText.fixed(number / 1_000_000, decimals: 1) + " M" }
        if number >= 10_000 { return DurationText.fixed(number / 1_000, decimals: 0) + " k" }
        return DurationText.fixed(number, decimals: number < 10 && number != number.rounded() ? 1 : 0)
    }

    private static let style = """
        :root{--bg:#fff;--fg:#1b1f24;--dim:#5b6470;--line:#e2e6ea;--shade:#f2f4f6;
        --s0:#1f6feb;--s1:#d9600b;--s2:#8250df;--good:#18743b;--bad:#b42318}
        @media (prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e6e9ec;--dim:#9aa4af;--line:#2c3239;
        --shade:#1d2228;--s0:#62a4ff;--s1:#f59b51;--s2:#bd93f9;--good:#5fd38a;--bad:#ff8a7a}}
        body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}
        main{max-width:760px;margin:0 auto;padding:24px 20px 48px}
        h1{font-size:24px;margin:0}h2{font-size:18px;margin:32px 0 8px}.when{color:var(--dim);margin:0 0 16px}
        .tiles{display:flex;flex-wrap:wrap;gap:10px}
        .tiles div{flex:1 1 104px;background:var(--shade);border-radius:8px;padding:10px 12px;color:var(--dim)}
        .tiles b{display:block;color:var(--fg);font-size:20px}.good{color:var(--good)}.bad{color:var(--bad)}
        table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}
        th,td{text-align:right;padding:5px 8px;border-bottom:1px solid var(--line)}
        th{color:var(--dim);font-weight:500}td.text,th.text{text-align:left}td.part{padding-left:24px}
        figure{margin:18px 0 26px}figcaption{font-weight:600;margin-bottom:4px}
        .legend{font-weight:400;float:right}.legend span{margin-left:14px;font-size:13px;color:var(--dim)}
        .legend span::before{content:"";display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:5px}
        .legend .s0::before{background:var(--s0)}.legend .s1::before{background:var(--s1)}
        .legend .s2::before{background:var(--s2)}
        svg{width:100%;height:auto;display:block}svg text{fill:var(--dim);font-size:12px}.grid{stroke:var(--line)}
        .shade{fill:var(--shade)}polyline{fill:none;stroke-width:2;stroke-linejoin:round}
        polyline.s0{stroke:var(--s0)}polyline.s1{stroke:var(--s1)}polyline.s2{stroke:var(--s2)}
        circle{fill-opacity:0}circle:hover,circle.dot{fill-opacity:1}
        circle.s0{fill:var(--s0)}circle.s1{fill:var(--s1)}circle.s2{fill:var(--s2)}
        """
}
