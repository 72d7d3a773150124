import Foundation

/// How long pushes took from their publication to the request, from what the simulator recorded.
enum RecordedDelays {
    private struct Request: Decodable {
        var timeMicroseconds: Double
        var token: String

        private enum CodingKeys: String, CodingKey {
            case timeMicroseconds = "time_us"
            case token
        }
    }

    /// Reads the delays of the devices of a range, sorted, in milliseconds.
    ///
    /// - Parameters:
    ///   - record: the simulator's file.
    ///   - published: when the event of each device was published, in milliseconds since 1970.
    ///   - devices: the devices, by their numbers.
    /// - Returns: a delay for each device.
    /// - Throws: if the file cannot be read, or has not one push for each of the devices.
    static func read(_ record: String, published: [Double], devices: Range<Int>) throws -> [Double] {
        let decoder = JSONDecoder()
        let lines = try Data(contentsOf: URL(fileURLWithPath: record)).split(separator: UInt8(ascii: "\n"))
        var delays: [Double] = []
        for line in lines {
            let request = try decoder.decode(Request.self, from: line)
            guard let device = Int(request.token.suffix(8), radix: 16), devices.contains(device) else { continue }
            delays.append(request.timeMicroseconds / 1_000 - published[device - devices.lowerBound])
        }
        guard delays.count == devices.count else {
            throw BenchmarkFailure(description: "\(delays.count) of \(devices.count) pushes were recorded")
        }
        return delays.sorted()
    }
}
