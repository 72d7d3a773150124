internal import JSON

/// Writes results as JSON for programs: one object, durations in microseconds.
public enum LoadJSON {
    /// The object of a result.
    ///
    /// - Parameters:
    ///   - result: the result; of a search, that of the best rate.
    ///   - search: the search for the capacity, if there was one.
    /// - Returns: the object, on one line.
    public static func object(of result: LoadResult, _ search: CapacitySearch?) -> [UInt8] {
        JSONWriter.object(capacityBytes: 16_384) { writer in
            writer.object("settings") { writer in
                for (name, value) in result.settings { writer.member(dynamic: name, value) }
            }
            writer.member("started_at_ms", result.startedAtMilliseconds)
            writer.member("measured_seconds", rounded: result.measuredSeconds)
            writer.member("intended_per_second", rounded: result.intendedPerSecond)
            writer.member("published_per_second", rounded: result.publishedPerSecond)
            writer.member("pushed_per_second", rounded: result.pushedPerSecond)
            for (_, key, histogram) in result.latencies {
                writer.key(dynamic: key)
                write(histogram, to: &writer)
            }
            writer.object("push_latency_by_kind_us") { writer in
                for (kind, histogram) in result.latencyByKind {
                    writer.key(dynamic: kind.name)
                    write(histogram, to: &writer)
                }
            }
            writeCounts(result, to: &writer)
            writer.array("warnings", texts: result.warnings)
            if let search { write(search, to: &writer) }
            writer.array("samples") { writer in for sample in result.samples { write(sample, to: &writer) } }
        }
    }

    private static func writeCounts(_ result: LoadResult, to writer: inout JSONWriter) {
        let totals = result.totals
        writer.object("events") { writer in
            writer.member("published", totals.published)
            writer.member("confirmed", totals.confirmed)
            writer.member("refused", totals.refused)
            writer.member("returned", totals.returned)
            writer.member("unpublished", result.unpublished)
            writer.member("coalesced", result.coalescedEvents)
        }
        writer.object("pushes") { writer in
            writer.member("expected", totals.expectedPushes)
            writer.member("accepted", totals.pushes)
            writer.member("missing", result.missingPushes)
            writer.member("duplicate", totals.duplicatePushes)
            writer.member("rejected", totals.rejectedPushes)
        }
    }

    private static func write(_ histogram: LatencyHistogram, to writer: inout JSONWriter) {
        writer.beginObject()
        for (share, name) in LoadResult.shares { writer.member(dynamic: name, histogram.percentile(share)) }
        writer.member("max", histogram.maximum)
        writer.member("min", histogram.minimum)
        writer.member("mean", rounded: histogram.mean)
        writer.member("count", histogram.count)
        writer.endObject()
    }

    private static func write(_ search: CapacitySearch, to writer: inout JSONWriter) {
        writer.object("capacity") { writer in
            writer.key("held_per_second")
            if let best = search.bestPerSecond { writer.double(best) } else { writer.null() }
            writer.key("failed_per_second")
            if let failed = search.failed { writer.double(failed.perSecond) } else { writer.null() }
            writer.array("steps", search.steps) { writer, step in
                writer.member("per_second", rounded: step.perSecond)
                writer.member("held", step.verdict == .held)
                writer.member("latency_us", step.microseconds)
                if case .failed(let reason) = step.verdict { writer.member("reason", reason) }
            }
        }
    }

    private static func write(_ sample: LoadSample, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("seconds", rounded: sample.seconds)
        writer.member("published_per_second", rounded: sample.publishedPerSecond)
        writer.member("confirmed_per_second", rounded: sample.confirmedPerSecond)
        writer.member("pushed_per_second", rounded: sample.pushedPerSecond)
        writer.member("p50_us", sample.p50)
        writer.member("p99_us", sample.p99)
        writer.member("max_us", sample.maximum)
        writer.member("unconfirmed", sample.unconfirmed)
        if let queue = sample.queue {
            writer.member("work", queue.work)
            writer.member("fanout", queue.fanOut)
            writer.member("retry", queue.retry)
            writer.member("dead_letters", queue.deadLetters)
            writer.member("consumers", queue.consumers)
        }
        writer.member("measured", sample.isMeasured)
        writer.endObject()
    }
}

extension JSONWriter {
    /// Writes a member with three digits after the point at most; 0 for infinity and NaN.
    fileprivate mutating func member(_ key: StaticString, rounded value: Double) {
        self.key(key)
        double(value.isFinite ? (value * 1_000).rounded() / 1_000 : 0)
    }
}
