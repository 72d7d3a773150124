import Foundation
import PushTestKit
import Testing

@testable import JSON

/// Random documents and random damage, with Foundation's JSON as the oracle.
@Suite("JSON against Foundation")
struct JSONOracleTests {
    private static let seed = UInt64.random(in: .min ... .max)

    /// A JSON value as a plain tree.
    private indirect enum Tree: Equatable {
        case null
        case boolean(Bool)
        case integer(Int64)
        case double(Double)
        case string(String)
        case array([Tree])
        case object([String: Tree])

        init(_ value: JSONValue) {
            switch value.kind {
            case .null: self = .null
            case .boolean: self = .boolean(value.bool ?? false)
            case .integer: self = .integer(value.int64 ?? 0)
            case .double: self = .double(value.double ?? 0)
            case .string: self = .string(value.string ?? "")
            case .array: self = .array(value.array?.map(Tree.init) ?? [])
            case .object:
                let members = value.object?.map { member in (member.key, Tree(member.value)) } ?? []
                self = .object(Dictionary(members, uniquingKeysWith: { first, _ in first }))
            }
        }

        init(foundation value: Any) {
            switch value {
            case is NSNull: self = .null
            case let string as String: self = .string(string)
            case let array as [Any]: self = .array(array.map(Tree.init(foundation:)))
            case let object as [String: Any]: self = .object(object.mapValues(Tree.init(foundation:)))
            case let number as NSNumber:
                switch UnicodeScalar(UInt8(bitPattern: number.objCType.pointee)) {
                case "c", "B": self = .boolean(number.boolValue)
                case "d", "f": self = .double(number.doubleValue)
                default: self = .integer(number.int64Value)
                }
            default: self = .null
            }
        }

        static func random(depth: Int, using generator: inout SeededGenerator) -> Tree {
            switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &generator) {
            case 0: .null
            case 1: .boolean(.random(using: &generator))
            // Not the large negative ones, which Foundation takes for doubles.
            case 2: .integer(.random(in: -1_000_000 ... .max, using: &generator))
            // Eighths, because Foundation's reading is off by a bit where a double needs 16 digits or more.
            case 3: .double(Double(Int.random(in: -8000...8000, using: &generator)) / 8 + 0.0625)
            case 4, 5: .string(randomString(using: &generator))
            case 6:
                .array(
                    (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                        random(depth: depth - 1, using: &generator)
                    }
                )
            default:
                .object(
                    Dictionary(
                        (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                            (randomString(using: &generator), random(depth: depth - 1, using: &generator))
                        },
                        uniquingKeysWith: { first, _ in first }
                    )
                )
            }
        }

        private static func randomString(using generator: inout SeededGenerator) -> String {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...20, using: &generator) {
                let range: ClosedRange<UInt32> = Bool.random(using: &generator) ? 0...0x7f : 0...0x10_ffff
                guard let scalar = UnicodeScalar(UInt32.random(in: range, using: &generator)) else { continue }
                // Foundation drops a byte order mark at the start of a string.
                if scalar != "\u{feff}" { scalars.append(scalar) }
            }
            return String(scalars)
        }

        func write(to writer: inout JSONWriter) {
            switch self {
            case .null: writer.null()
            case .boolean(let value): writer.boolean(value)
            case .integer(let value): writer.integer(value)
            case .double(let value): writer.double(value)
            case .string(let value): writer.string(value)
            case .array(let elements):
                writer.beginArray()
                for element in elements { element.write(to: &writer) }
                writer.endArray()
            case .object(let members):
                writer.beginObject()
                for (key, value) in members {
                    writer.key(dynamic: key)
                    value.write(to: &writer)
                }
                writer.endObject()
            }
        }
    }

    @Test("What the writer writes, the parser and Foundation read back as the same value")
    func agreesOnRandomDocuments() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let parser = JSONParser()
        var writer = JSONWriter()
        for round in 0..<2000 {
            let tree = Tree.array([.random(depth: 5, using: &generator)])
            writer.removeAll()
            tree.write(to: &writer)
            let note = Comment(rawValue: "seed \(Self.seed), round \(round)")
            #expect(Tree(try parser.parse(writer.bytes)) == tree, note)
            #expect(Tree(foundation: try JSONSerialization.jsonObject(with: Data(writer.bytes))) == tree, note)
            #expect(try parser.parse(writer.bytes).minified == writer.bytes, note)
        }
    }

    @Test("Every double is read back as it was written, to the last bit")
    func roundTripsDoubles() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let parser = JSONParser()
        var writer = JSONWriter()
        for _ in 0..<20_000 {
            let number = Double(bitPattern: generator.next())
            guard number.isFinite else { continue }
            writer.removeAll()
            writer.double(number)
            #expect(try parser.parse(writer.bytes).double?.bitPattern == number.bitPattern, "seed \(Self.seed)")
        }
    }

    @Test("A damaged document is read as before or refused with a place, never anything else")
    func survivesRandomDamage() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let parser = JSONParser()
        var writer = JSONWriter()
        let alphabet = Array("{}[]\",:\\u0d8e.+-truefalsnl \n\0\u{ff}".utf8) + [0x80, 0xed, 0xa0, 0xf4, 0xff]
        for round in 0..<20_000 {
            writer.removeAll()
            Tree.random(depth: 3, using: &generator).write(to: &writer)
            var bytes = writer.bytes
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let position = Int.random(in: 0...bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes.insert(alphabet.randomElement(using: &generator) ?? 0, at: position)
                case 1 where position < bytes.count: bytes.remove(at: position)
                case 2 where position < bytes.count: bytes[position] = alphabet.randomElement(using: &generator) ?? 0
                default: bytes.removeSubrange(position...)
                }
            }
            let fault = bytes.withUnsafeBufferPointer { buffer in
                JSONFaultFinder.firstFault(in: buffer, depthMaximum: parser.depthMaximum)
            }
            do throws(JSONError) {
                let minified = try parser.parse(bytes, refusingRepeatedKeys: false).minified
                let again = try parser.parse(minified, refusingRepeatedKeys: false).minified
                #expect(again == minified, "seed \(Self.seed), round \(round)")
                #expect(fault == nil, "seed \(Self.seed), round \(round): \(bytes)")
            } catch {
                #expect(fault == error, "seed \(Self.seed), round \(round): \(bytes)")
            }
        }
    }
}
