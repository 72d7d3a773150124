import Essentials
import EventLoop
import Metrics
import Notifications
import PushCore

/// Chunks of large fan-outs are served page by page, and end when the last page has.
///
/// A chunk that has a page left waits for its turn, so memory stays flat and nobody waits for a whole chunk. That it
/// has ended is written down before its delivery is settled.
extension Pipeline {
    /// How many pages of a chunk may begin while pushes of the chunk before it are out, so that the connections do not
    /// idle between two chunks; a crash may repeat them beside that chunk.
    private static let pagesAheadMaximum = 2

    // MARK: Turns

    /// What a delivery of the bulk lane takes turns as; that of what is no event is told when it is served.
    func fanOutFlow(of delivery: Delivery) -> String {
        if let begun = chunks[delivery.tag] { return begun.flow }
        do throws(EventRejection) {
            return fanOutFlow(of: try decoder.decode(delivery.message))
        } catch {
            return ""
        }
    }

    /// What the fan-out of an event takes turns as: its app, or the identity pool of a dataset.
    private func fanOutFlow(of event: ChangeEvent) -> String {
        switch event.kind {
        case .push(let push): push.app
        case .record(let change): change.app ?? ""
        case .dataset(let change): change.key.identityPoolID
        }
    }

    /// Whether the next page of a delivery may be served: if it is a chunk, after the chunks of its flow before it.
    func mayServePage(of delivery: Delivery, flow: String) -> Bool {
        if isFanOutSaturated(flow) { return false }
        let begun = chunks[delivery.tag]
        var before = 0
        for (tag, progress) in chunks where tag != delivery.tag && progress.flow == flow {
            if let begun, begun.place < progress.place { continue }
            guard progress.isRead else { return false }
            before += 1
        }
        return before == 0 || before == 1 && (begun?.pagesBegun ?? 0) < Self.pagesAheadMaximum
    }

    private func progress(of item: PreparedEvent, _ key: FanOutChunkKey) -> ChunkProgress {
        if let known = chunks[item.delivery.tag] { return known }
        lastChunkPlace += 1
        return ChunkProgress(
            key: key, item: item, flow: fanOutFlow(of: item.event), place: lastChunkPlace, renderings: item.renderings)
    }

    // MARK: Pages

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
        var progress = progress(of: item, key)
        progress.renderings = renderings
        progress.pagesBegun += 1
        progress.pageGoesOut(at: parts.now().monotonic)
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
        var progress = progress(of: item, key)
        progress.isRead = true
        progress.isCancelled = state == .cancelled
        chunks[tag] = progress
        endIfOver(tag)
    }

    /// A page of a chunk cannot be rendered: the chunk becomes a dead letter, and ends when that and all pushes of the
    /// pages before have ended.
    func chunkRejected(_ item: PreparedEvent, _ rejection: EventRejection, dataset: DatasetKey?) {
        guard let key = item.chunkKey else { return }
        let tag = item.delivery.tag
        var progress = progress(of: item, key)
        progress.pageGoesOut(at: parts.now().monotonic)
        progress.isRead = true
        progress.isRejected = true
        chunks[tag] = progress
        metrics.countEvent(.unknown, .rejected)
        machine.deliveryRejected(
            [], message: item.delivery.message, parking: item.parking, dataset: dataset, chunk: tag,
            reason: rejection.reason.rawValue, detail: rejection.message, into: &actions)
    }

    /// Pages of chunks have ended.
    func chunkPagesEnded(_ tags: [DeliveryTag]) {
        for (tag, detail) in actions.chunksRejected { chunks[tag]?.rejection = detail }
        for tag in tags {
            chunks[tag]?.pagesOut -= 1
            endIfOver(tag)
        }
    }

    private func endIfOver(_ tag: DeliveryTag) {
        guard let progress = chunks[tag], progress.isOver else { return }
        chunks[tag] = nil
        // The chunk after it may go on now.
        if !waitingFanOuts.isEmpty { scheduleFlush() }
        if let detail = progress.rejection {
            metrics.fanOuts.chunksRejected.add()
            return actions.rejections.append(
                .init(tags: [tag], message: progress.item.delivery.message, detail: detail))
        }
        guard !progress.isRejected else {
            // It is not written down: what is done about its dead letter has to find it not served.
            metrics.fanOuts.chunksRejected.add()
            return actions.settles.append(tag)
        }
        chunksToRecord.append((tag, FanOutChunkEnding(progress.key, isCancelled: progress.isCancelled)))
    }

    /// Writes down which chunks have ended, and settles their deliveries.
    func recordChunks() {
        guard !chunksToRecord.isEmpty, chunkRetry == nil, !isRecordingChunks else { return }
        isRecordingChunks = true
        let endings = chunksToRecord.map(\.ending)
        ask(.ended(endings)) { [self] result in
            isRecordingChunks = false
            chunksRecorded(endings.count, result)
        }
    }

    /// The registry answered to the first of the chunks that were to be written down.
    private func chunksRecorded(_ count: Int, _ result: Result<FanOutCall.Answer, RegistryError>) {
        if case .failure(let error) = result {
            metrics.registryFailures.add()
            logger.log(
                .warning, "fanout.chunk.not-recorded", [.field("chunks", count), .field("message", error.message)])
            // A registry that can only be read keeps nothing: then a redelivery is served again.
            guard error.code == .readOnly else { return recordChunksLater() }
        }
        for (tag, ending) in chunksToRecord.prefix(count) {
            actions.settles.append(tag)
            (ending.isCancelled ? metrics.fanOuts.chunksCancelled : metrics.fanOuts.chunksServed).add()
        }
        chunksToRecord.removeFirst(count)
        scheduleFlush()
    }

    private func recordChunksLater() {
        chunkRetry = loop.schedule(afterNanoseconds: repeatDelayNanoseconds) { [self] in
            chunkRetry = nil
            scheduleFlush()
        }
    }

    /// The connection is lost: chunks that have pages left will come again from their beginning.
    func forgetUnreadChunks(before epoch: UInt32) {
        chunks = chunks.filter { $0.value.isRead || $0.key.epoch >= epoch }
    }
}
