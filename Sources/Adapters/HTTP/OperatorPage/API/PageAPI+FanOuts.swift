import HTTPServer
import JSON
import RegistryCore

/// Large fan-outs: how far they are, and their end.
extension PageAPI {
    private static let limitMaximum = 200

    /// `GET fan-outs`.
    func fanOuts(_ call: PageCall) async throws -> HTTPResponse {
        let before = try call.number("before")
        let limit = try call.limit(50, atMost: Self.limitMaximum)
        let now = nowMilliseconds
        let fanOuts = try await store.run { try $0.fanOuts(before: before, limit: limit) }
        return PageResponse.object { writer in
            writer.array("fanOuts", fanOuts) { $1.write(to: &$0, nowMilliseconds: now) }
            writer.member("next", fanOuts.count == limit ? fanOuts.last?.number : nil)
        }
    }

    /// `POST fan-outs/NUMBER/cancel`.
    func cancelFanOut(_ call: PageCall) async throws -> HTTPResponse {
        let number = try PageCall.number(call.values["number"], "the number of the fan-out")
        let now = nowMilliseconds
        guard let before = try await store.run({ try $0.fanOut(number) }) else { throw RegistryError.noFanOut }
        guard before.state == .planning || before.state == .planned else {
            throw PageProblem(.conflict, "The fan-out \(number) is \(before.state.rawValue) already.")
        }
        let target = "fan-out \(number) of the event \(before.event.identifier)"
        let cancelled = try await actions.perform(.cancelFanOut, call.user, target: target) { registry in
            try registry.cancelFanOut(number, nowMilliseconds: now)
        }
        guard let cancelled else { throw RegistryError.noFanOut }
        return PageResponse.object { writer in
            writer.object("fanOut") { cancelled.write(to: &$0, nowMilliseconds: now) }
        }
    }
}

extension FanOut {
    /// The part of its chunks that has ended; nil while they are being found.
    private var progress: Double? {
        guard isWhole, chunksPlanned > 0 else { return state == .done ? 1 : nil }
        return Double(min(chunksServed + chunksCancelled, chunksPlanned)) / Double(chunksPlanned)
    }

    /// How long the rest will take if it goes on as since the beginning; nil if nothing tells.
    private func remainingSeconds(nowMilliseconds: Int64) -> Double? {
        guard state == .planned, let progress, progress > 0, progress < 1 else { return nil }
        let seconds = Double(max(0, nowMilliseconds - begunAtMilliseconds)) / 1_000
        return seconds * (1 - progress) / progress
    }

    /// Writes it as the page shows it.
    func write(to writer: inout JSONWriter, nowMilliseconds: Int64) {
        writer.member("number", number)
        writer.member("state", state.rawValue)
        writer.member("eventId", event.identifier)
        writer.member("eventSource", event.source)
        writer.member("eventType", event.type)
        writer.member("app", event.app)
        writer.member("chunksPlanned", chunksPlanned)
        writer.member("chunksPublished", chunksPublished)
        writer.member("chunksServed", chunksServed)
        writer.member("chunksCancelled", chunksCancelled)
        writer.member("devicesPlanned", devicesPlanned)
        writer.member("isWhole", isWhole)
        writer.member("begunAtMilliseconds", begunAtMilliseconds)
        writer.member("changedAtMilliseconds", changedAtMilliseconds)
        writer.member("progress", rounded: progress)
        writer.member("etaSeconds", rounded: remainingSeconds(nowMilliseconds: nowMilliseconds))
    }
}
