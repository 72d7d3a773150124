import ChangeEvents

/// Some events that the registry remembers, whose pushes ended at the same time: a row of its memory.
public struct EventMemoryBlock: Hashable, Sendable {
    /// How many events a block has at most: so many fill a page of SQLite, and two of them a page of PostgreSQL.
    public static let eventsMaximum = 200
    /// The bytes of an event: the halves of its identity (8 bytes each), and the digest of its content (4 bytes), in
    /// little-endian order.
    public static let bytesPerEvent = 20

    /// Its number, greater than those of all blocks that were committed before.
    public let number: Int64
    /// When the pushes ended, in milliseconds since 1970.
    public let endedAtMilliseconds: Int64
    /// The events, `bytesPerEvent` for each; further bytes mean nothing.
    public let bytes: [UInt8]

    /// Takes a block as it was stored.
    public init(number: Int64, endedAtMilliseconds: Int64, bytes: [UInt8]) {
        self.number = number
        self.endedAtMilliseconds = endedAtMilliseconds
        self.bytes = bytes
    }

    /// How many events it has.
    public var count: Int { bytes.count / Self.bytesPerEvent }

    /// Its events.
    public var events: [RememberedEvent] {
        bytes.withUnsafeBytes { bytes in
            (0..<count).map { index in
                let start = index * Self.bytesPerEvent
                func half(_ offset: Int) -> Int64 {
                    Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: start + offset, as: Int64.self))
                }
                let content = bytes.loadUnaligned(fromByteOffset: start + 16, as: Int32.self)
                return RememberedEvent(
                    identity: EventIdentity(key: half(0), rest: half(8)), content: Int64(Int32(littleEndian: content)))
            }
        }
    }

    /// Calls `body` with the key of each event (`EventIdentity.key`).
    func forEachKey(_ body: (Int64) -> Void) {
        bytes.withUnsafeBytes { bytes in
            for index in 0..<count {
                let key = bytes.loadUnaligned(fromByteOffset: index * Self.bytesPerEvent, as: Int64.self)
                body(Int64(littleEndian: key))
            }
        }
    }

    /// The bytes of some events, in parts of `eventsMaximum` events.
    public static func parts(of events: [RememberedEvent]) -> [[UInt8]] {
        stride(from: 0, to: events.count, by: eventsMaximum).map { start in
            let part = events[start..<min(events.count, start + eventsMaximum)]
            return Array(unsafeUninitializedCapacity: part.count * bytesPerEvent) { bytes, count in
                let bytes = UnsafeMutableRawBufferPointer(bytes)
                for event in part {
                    bytes.storeBytes(of: event.identity.key.littleEndian, toByteOffset: count, as: Int64.self)
                    bytes.storeBytes(of: event.identity.rest.littleEndian, toByteOffset: count + 8, as: Int64.self)
                    let content = Int32(truncatingIfNeeded: event.content)
                    bytes.storeBytes(of: content.littleEndian, toByteOffset: count + 16, as: Int32.self)
                    count += bytesPerEvent
                }
            }
        }
    }
}
