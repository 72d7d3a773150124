import Foundation
import PushTestKit
import Testing

@testable import Essentials

@Suite("Timestamps of RFC 3339")
struct EventTimeTests {
    private static let seed = UInt64.random(in: .min ... .max)

    private func milliseconds(_ text: String) -> Int64? { text.readingUTF8(RFC3339.milliseconds) }

    @Test(
        "Zones, fractions, leap days and leap seconds are read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.999Z", -1), ("2026-01-31t12:00:00z", 1_769_860_800_000),
            ("2026-01-31 12:00:00Z", 1_769_860_800_000), ("2026-01-31T12:00:00.1Z", 1_769_860_800_100),
            ("2026-01-31T12:00:00.123999999Z", 1_769_860_800_123), ("2026-01-31T13:30:00+01:30", 1_769_860_800_000),
            ("2026-01-31T04:00:00-08:00", 1_769_860_800_000), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ] as [(String, Int64)])
    func readsTimestamps(text: String, expected: Int64) {
        #expect(milliseconds(text) == expected)
    }

    @Test(
        "Anything else is refused",
        arguments: [
            "", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31T12:00Z", "2026-02-30T12:00:00Z",
            "2025-02-29T12:00:00Z", "1900-02-29T12:00:00Z", "2026-13-01T12:00:00Z", "2026-00-01T12:00:00Z",
            "2026-01-00T12:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z", "2026-01-31T12:00:61Z",
            "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00+0100", "2026-01-31T12:00:00+24:00",
            "2026-01-31T12:00:00Zx", "2026-01-31T12:00:00+01:00Z", "2026/01/31T12:00:00Z", "+026-01-31T12:00:00Z",
            "2026-01-31T12:00:00.\(String(repeating: "0", count: 60))Z", "20260131T120000Z....",
        ])
    func refusesOthers(text: String) {
        #expect(milliseconds(text) == nil)
    }

    @Test("Random moments are read as Foundation writes them")
    func agreesWithFoundation() {
        var generator = SeededGenerator(seed: Self.seed)
        for _ in 0..<2000 {
            let seconds = Int64.random(in: -2_000_000_000...4_000_000_000, using: &generator)
            let text = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
            #expect(milliseconds(text) == seconds * 1000, "seed \(Self.seed): \(text)")
        }
    }
}
