import Essentials
import PushCore

/// Whom an event goes to, or the first of them.
enum ResolvedAudience {
    /// Devices that are all told the same.
    case devices(AddressedPage)
    /// Devices that are told what their subscription says, with the badges of those whose subscription counts them.
    case subscribers(SubscriberPage, badges: [ByteText: Int])
    /// So many that they are served in chunks, and some of them.
    case large(FanOut, firstDevices: [Recipient])
    /// A chunk that is not to be served any more.
    case chunkOver(FanOutChunkState)

    /// How many devices there are on the page.
    var count: Int {
        switch self {
        case .devices(let addressed): addressed.page.devices.count
        case .subscribers(let page, _): page.entries.count
        case .large, .chunkOver: 0
        }
    }
}
