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
        var writer = JSONWriter(capacityBytes: 16_384)
        writer.beginObject()
        writer.key("settings")
        writer.beginObject()
        for (name, value) in result.settings {
            writer.key(dynamic: name)
            writer.string(value)
        }
        writer.endObject()
        writer.member("started_at_ms", result.startedAtMilliseconds)
        writer.member("measured_seconds", result.measuredSeconds)
        writer.member("intended_per_second", result.intendedPerSecond)
        writer.member("published_per_second", result.publishedPerSecond)
        writer.member("pushed_per_second", result.pushedPerSecond)
        for (_, key, histogram) in result.latencies {
            writer.key(dynamic: key)
            write(histogram, to: &writer)
        }
        writer.key("push_latency_by_kind_us")
        writer.beginObject()
        for (kind, histogram) in result.latencyByKind {
            writer.key(dynamic: kind.name)
            write(histogram, to: &writer)
        }
        writer.endObject()
        writeCounts(result, to: &writer)
        writer.key("warnings")
        writer.beginArray()
        for warning in result.warnings { writer.string(warning) }
        writer.endArray()
        if let search { write(search, to: &writer) }
        writer.key("samples")
        writer.beginArray()
        for sample in result.samples { write(sample, to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    private static func writeCounts(_ result: LoadResult, to writer: inout JSONWriter) {
        let totals = result.totals
        writer.key("events")
        writer.beginObject()
        writer.member("published", Int64(totals.published))
        writer.member("confirmed", Int64(totals.confirmed))
        writer.member("refused", Int64(totals.refused))
        writer.member("returned", Int64(totals.returned))
        writer.member("unpublished", Int64(result.unpublished))
        writer.member("coalesced", Int64(result.coalescedEvents))
        writer.endObject()
        writer.key("pushes")
        writer.beginObject()
        writer.member("expected", Int64(totals.expectedPushes))
        writer.member("accepted", Int64(totals.pushes))
        writer.member("missing", Int64(result.missingPushes))
        writer.member("duplicate", Int64(totals.duplicatePushes))
        writer.member("rejected", Int64(totals.rejectedPushes))
        writer.endObject()
    }

    private static func write(_ histogram: LatencyHistogram, to writer: inout JSONWriter) {
        writer.beginObject()
        for (share, name) in LoadResult.shares {
            writer.key(dynamic: name)
            writer.integer(histogram.percentile(share))
        }
        writer.member("max", Int64(histogram.maximum))
        writer.member("min", Int64(histogram.minimum))
        writer.member("mean", histogram.mean)
        writer.member("count", Int64(histogram.count))
        writer.endObject()
    }

    private static func write(_ search: CapacitySearch, to writer: inout JSONWriter) {
        writer.key("capacity")
        writer.beginObject()
        writer.key("held_per_second")
        if let best = search.bestPerSecond { writer.double(best) } else { writer.null() }
        writer.key("failed_per_second")
        if let failed = search.failed { writer.double(failed.perSecond) } else { writer.null() }
        writer.key("steps")
        writer.beginArray()
        for step in search.steps {
            writer.beginObject()
            writer.member("per_second", step.perSecond)
            writer.key("held")
            writer.boolean(step.verdict == .held)
            writer.member("latency_us", Int64(step.microseconds))
            if case .failed(let reason) = step.verdict { writer.member("reason", reason) }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }

    private static func write(_ sample: LoadSample, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("seconds", sample.seconds)
        writer.member("published_per_second", sample.publishedPerSecond)
        writer.member("confirmed_per_second", sample.confirmedPerSecond)
        writer.member("pushed_per_second", sample.pushedPerSecond)
        writer.member("p50_us", Int64(sample.p50))
        writer.member("p99_us", Int64(sample.p99))
        writer.member("max_us", Int64(sample.maximum))
        writer.member("unconfirmed", Int64(sample.unconfirmed))
        if let queue = sample.queue {
            writer.member("work", Int64(queue.work))
            writer.member("fanout", Int64(queue.fanOut))
            writer.member("retry", Int64(queue.retry))
            writer.member("dead_letters", Int64(queue.deadLetters))
            writer.member("consumers", Int64(queue.consumers))
        }
        writer.key("measured")
        writer.boolean(sample.isMeasured)
        writer.endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ key: StaticString, _ value: Int64) {
        self.key(key)
        integer(value)
    }

    fileprivate mutating func member(_ key: StaticString, _ value: Double) {
        self.key(key)
        double(value.isFinite ? (value * 1_000).rounded() / 1_000 : 0)
    }
}
