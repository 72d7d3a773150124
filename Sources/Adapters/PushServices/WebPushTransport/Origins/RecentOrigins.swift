import Notifications

/// The origins of the last few endpoints, so that the next endpoint of one of them is not parsed again.
///
/// Nearly all subscriptions are at the services of four vendors, whose endpoints differ after the origin only.
struct RecentOrigins {
    /// An origin, and what the configuration says about it.
    struct Entry {
        /// The beginning of endpoints: the scheme, the host and the port, as they were written.
        fileprivate let text: [UInt8]
        /// The origin.
        let origin: WebPushOrigin
        /// The standing of its host.
        let standing: PushHostRule.Standing
        /// Whether pushes may go there.
        let isAllowed: Bool
    }

    /// How many are kept.
    static let entriesMaximum = 8

    private var entries: [Entry] = []
    private var oldest = 0

    /// Finds the origin of an endpoint; nil if it is none of the last.
    func entry(of token: borrowing DeviceToken) -> Entry? {
        token.bytes.withUnsafeBufferPointer { endpoint in
            entries.first { entry in
                // The path has to begin after the text: a longer host is another origin.
                entry.text.count <= endpoint.count && endpoint.starts(with: entry.text)
                    && (entry.text.count == endpoint.count || EndpointPath.begins(with: endpoint[entry.text.count]))
            }
        }
    }

    /// Keeps the origin of an endpoint, in place of the one that was added first.
    mutating func add(
        _ origin: WebPushOrigin, of token: borrowing DeviceToken, _ standing: PushHostRule.Standing, isAllowed: Bool
    ) -> Entry {
        let text = token.bytes.withUnsafeBufferPointer { Array($0[..<EndpointPath.range(in: $0).lowerBound]) }
        let entry = Entry(text: text, origin: origin, standing: standing, isAllowed: isAllowed)
        if entries.count < Self.entriesMaximum {
            entries.append(entry)
        } else {
            entries[oldest] = entry
            oldest = (oldest + 1) % Self.entriesMaximum
        }
        return entry
    }
}
