import Essentials
import Foundation
import Testing

@Suite("Dates of HTTP")
struct HTTPDateTests {
    @Test(
        "The three forms that RFC 9110 shows are one time",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ])
    func forms(text: String) { #expect(HTTPDate.seconds(text) == 784_111_777) }

    @Test("Times that Foundation writes are read")
    func agreesWithFoundation() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        for format in ["EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy"] {
            formatter.dateFormat = format
            for seconds in stride(from: Int64(0), to: 3_100_000_000, by: 12_345_678) {
                let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
                #expect(HTTPDate.seconds(text) == seconds, "\(text)")
            }
        }
    }

    @Test(
        "Anything else is no date",
        arguments: [
            "", "120", "-1", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 November 1994 08:49:37 GMT", "Sun, 06 Nov 1894 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37+01 GMT",
            String(repeating: "Sun, 06 Nov 1994 ", count: 100),
        ])
    func refusals(text: String) { #expect(HTTPDate.seconds(text) == nil) }
}
