import EventLoop
import Metrics
import PushCore

/// Chunks of large fan-outs are served page by page, and end when the last page has.
///
/// A chunk that has a page left waits among the deliveries like any other, so memory stays flat and nobody waits for a
/// whole chunk. That it has ended is written down before its delivery is settled.
extension Pipeline {
    /// The chunks of a batch that are not to be served any more, by their place in it.
    func chunksOver(_ prepared: [PreparedEvent]) throws(RegistryError) -> [Int: FanOutChunkState] {
        var places: [Int] = []
        var keys: [FanOutChunkKey] = []
        for (place, item) in prepared.enumerated() {
            guard let key = item.chunkKey else { continue }
            places.append(place)
            keys.append(key)
        }
        guard !keys.isEmpty else { return [:] }
        var over: [Int: FanOutChunkState] = [:]
        do throws(RegistryError) {
            for (place, state) in zip(places, try parts.fanOuts.chunkStates(keys)) where state != .waiting {
                over[place] = state
            }
        } catch {
            // What it does not tell is served: rather twice than never.
            try fanOutsFailed(error)
        }
        return over
    }

    /// Where the next page of a delivery begins.
    func cursor(of item: PreparedEvent) -> AudienceCursor? {
        guard item.parking.chunk != nil else { return item.parking.cursor }
        return chunks[item.delivery.tag]?.cursor ?? item.parking.cursor
    }

    /// A page of a chunk begins; if another follows, the delivery waits for its next turn.
    ///
    /// - Parameters:
    ///   - item: the chunk.
    ///   - next: where the next page begins; nil if this is the last.
    ///   - renderings: what the pages so far, and this one, were told.
    func chunkPageBegins(_ item: PreparedEvent, next: AudienceCursor?, renderings: [AppRendering] = []) {
        guard let key = item.chunkKey else { return }
        let tag = item.delivery.tag
        var progress = chunks[tag] ?? ChunkProgress(key: key, item: item)
        progress.renderings = renderings
        progress.pagesOut += 1
        progress.cursor = next ?? progress.cursor
        progress.isRead = next == nil
        chunks[tag] = progress
        if next != nil { receive([item.delivery]) }
    }

    /// No further page of a chunk is to be served, because it was cancelled, or served by somebody else.
    func chunkIsOver(_ item: PreparedEvent, _ state: FanOutChunkState) {
        guard let key = item.chunkKey else { return }
        let tag = item.delivery.tag
        if chunks[tag] == nil, state == .served {
            metrics.fanOuts.chunksRepeated.add()
            return actions.settles.append(tag)
        }
        var progress = chunks[tag] ?? ChunkProgress(key: key, item: item)
        progress.isRead = true
        progress.isCancelled = state == .cancelled
        chunks[tag] = progress
        endIfOver(tag)
    }

    /// The page of a chunk cannot be rendered: the chunk is a dead letter.
    func chunkRejected(_ item: PreparedEvent) {
        chunks[item.delivery.tag] = nil
        metrics.fanOuts.chunksRejected.add()
    }

    /// Pages of chunks have ended.
    func chunkPagesEnded(_ tags: [DeliveryTag]) {
        for tag in tags {
            chunks[tag]?.pagesOut -= 1
            endIfOver(tag)
        }
    }

    private func endIfOver(_ tag: DeliveryTag) {
        guard let progress = chunks[tag], progress.isOver else { return }
        chunks[tag] = nil
        chunksToRecord.append((tag, FanOutChunkEnding(progress.key, isCancelled: progress.isCancelled)))
    }

    /// Writes down which chunks have ended, and settles their deliveries.
    func recordChunks() {
        guard !chunksToRecord.isEmpty, chunkRetry == nil else { return }
        do throws(RegistryError) {
            try parts.fanOuts.chunksEnded(
                chunksToRecord.map(\.ending), nowMilliseconds: parts.nowMilliseconds())
        } catch {
            metrics.registryFailures.add()
            logger.log(
                .warning, "fanout.chunk.not-recorded",
                [.field("chunks", chunksToRecord.count), .field("message", error.message)])
            // A registry that can only be read keeps nothing: then a redelivery is served again.
            guard error.code == .readOnly else { return recordChunksLater() }
        }
        for (tag, ending) in chunksToRecord {
            actions.settles.append(tag)
            (ending.isCancelled ? metrics.fanOuts.chunksCancelled : metrics.fanOuts.chunksServed).add()
        }
        chunksToRecord.removeAll(keepingCapacity: true)
    }

    private func recordChunksLater() {
        chunkRetry = loop.schedule(afterNanoseconds: Self.repeatDelayNanoseconds) { [self] in
            chunkRetry = nil
            scheduleFlush()
        }
    }

    /// The connection is lost: chunks that have pages left will come again from their beginning.
    func forgetUnreadChunks(before epoch: UInt32) {
        chunks = chunks.filter { $0.value.isRead || $0.key.epoch >= epoch }
    }
}
