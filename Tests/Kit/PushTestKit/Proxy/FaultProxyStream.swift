/// One direction of a connection through a `FaultProxy`: its bytes that were read and not yet written.
final class FaultProxyStream {
    /// The next piece of work.
    enum Item {
        case write([UInt8])
        case strike(FaultTrigger.Strike)
        /// The sender has ended its stream.
        case finish
    }

    private struct Due {
        var item: Item
        var dueNanoseconds: UInt64
    }

    /// How many bytes may wait; the sender waits with the rest.
    static let waitingBytesMaximum = 4 << 20

    let direction: ProxyDirection
    var scanner: AMQPFrameScanner
    /// How many bytes have come, which is what triggers count.
    var bytesTaken = 0
    /// A strike that silences this one connection.
    var silence: ProxySilence?
    /// Bytes are gone: the stream cannot go on.
    var hasLostBytes = false
    var isSourceFinished = false
    /// The last thing that was to be done has been done.
    var isFinished = false
    /// The target takes no more for the moment.
    var awaitsRoom = false
    private(set) var waitingBytes = 0
    private var items: [Due] = []
    private var firstIndex = 0
    private var lastDueNanoseconds: UInt64 = 0

    init(direction: ProxyDirection) {
        self.direction = direction
        scanner = AMQPFrameScanner(direction: direction)
    }

    var isEmpty: Bool { firstIndex == items.count }

    /// When the first item is due, if there is one.
    var nextDueNanoseconds: UInt64? { isEmpty ? nil : items[firstIndex].dueNanoseconds }

    /// Appends an item, which never overtakes earlier ones.
    func append(_ item: Item, dueNanoseconds: UInt64, bytesPerSecondMaximum: Int = .max) {
        var due = max(dueNanoseconds, lastDueNanoseconds)
        if case .write(let bytes) = item {
            waitingBytes += bytes.count
            if bytesPerSecondMaximum != .max {
                due += UInt64(bytes.count) * 1_000_000_000 / UInt64(max(1, bytesPerSecondMaximum))
            }
        }
        lastDueNanoseconds = due
        items.append(Due(item: item, dueNanoseconds: due))
    }

    /// The item that is due, left where it is.
    func first(nowNanoseconds: UInt64) -> Item? {
        guard !isEmpty, items[firstIndex].dueNanoseconds <= nowNanoseconds else { return nil }
        return items[firstIndex].item
    }

    /// The first item has been done, or so many bytes of it.
    func done(bytes count: Int = 0) {
        if case .write(let bytes) = items[firstIndex].item {
            waitingBytes -= count
            if count < bytes.count {
                items[firstIndex].item = .write(Array(bytes.dropFirst(count)))
                return
            }
        }
        firstIndex += 1
        if firstIndex == items.count || firstIndex > 1_024 {
            items.removeFirst(firstIndex)
            firstIndex = 0
        }
    }
}
