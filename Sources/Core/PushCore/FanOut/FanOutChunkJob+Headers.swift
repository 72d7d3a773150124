extension FanOutChunkJob {
    /// Reads a chunk from the headers of its message; nil if it is none.
    ///
    /// - Parameters:
    ///   - headers: the headers.
    ///   - after: where the chunk begins, which all parked messages say in the same way.
    init?(headers: [MessageHeader], after: AudienceCursor?) {
        func number(_ name: String) -> Int64? {
            for header in headers where header.name == name {
                if case .int64(let value) = header.value { return value }
            }
            return nil
        }
        guard let fanOut = number(ParkingHeader.fanOut), let chunk = number(ParkingHeader.chunk) else { return nil }
        var subscriptions: [Int64] = []
        for header in headers where header.name == ParkingHeader.subscriptions {
            if case .bytes(let bytes) = header.value { subscriptions = FanOutChunk.subscriptions(fromBytes: bytes) }
        }
        let through = number(ParkingHeader.through).map {
            AudienceCursor(position: $0, subscription: number(ParkingHeader.throughSubscription) ?? 0)
        }
        self.init(
            fanOut: fanOut,
            chunk: FanOutChunk(
                number: FanOutRules.count(chunk), after: after, through: through, subscriptions: subscriptions,
                deviceCount: FanOutRules.count(number(ParkingHeader.chunkDevices) ?? 0)))
    }

    /// The headers that say which chunk a message is, beside the cursor.
    var headers: [MessageHeader] {
        var headers = [
            MessageHeader(name: ParkingHeader.fanOut, value: .int64(fanOut)),
            MessageHeader(name: ParkingHeader.chunk, value: .int64(Int64(chunk.number))),
            MessageHeader(name: ParkingHeader.chunkDevices, value: .int64(Int64(chunk.deviceCount))),
        ]
        if let through = chunk.through {
            headers.append(MessageHeader(name: ParkingHeader.through, value: .int64(through.position)))
            if through.subscription != 0 {
                headers.append(
                    MessageHeader(name: ParkingHeader.throughSubscription, value: .int64(through.subscription)))
            }
        }
        if !chunk.subscriptions.isEmpty {
            headers.append(MessageHeader(name: ParkingHeader.subscriptions, value: .bytes(chunk.subscriptionBytes)))
        }
        return headers
    }
}
