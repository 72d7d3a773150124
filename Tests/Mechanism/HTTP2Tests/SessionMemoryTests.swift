import CNghttp2
import EventLoop
import PushTestKit
import Testing

@testable import HTTP2

@Suite("Memory of a session")
struct SessionMemoryTests {
    @Test("Blocks keep their contents apart while any of any size are taken, grown and given back")
    func agreesWithAnOracle() throws {
        let memory = SessionMemory()
        let functions = memory.functions
        var random = SeededGenerator(seed: 5)
        var blocks: [(address: UnsafeMutableRawPointer, size: Int, byte: UInt8)] = []
        for round in 0..<20_000 {
            let size = Int.random(in: 0...3_000, using: &random)
            let byte = UInt8(truncatingIfNeeded: round)
            let isFull = blocks.count > 700
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where !isFull, 1 where !isFull:
                let address = try #require(functions.malloc(size, functions.mem_user_data))
                fill(address, size, byte)
                blocks.append((address, size, byte))
            case 2 where !blocks.isEmpty:
                let index = Int.random(in: blocks.indices, using: &random)
                let old = blocks[index]
                let address = try #require(functions.realloc(old.address, size, functions.mem_user_data))
                check(address, min(size, old.size), old.byte)
                fill(address, size, byte)
                blocks[index] = (address, size, byte)
            default:
                guard let old = blocks.randomElement(using: &random) else { continue }
                blocks.removeAll { $0.address == old.address }
                check(old.address, old.size, old.byte)
                functions.free(old.address, functions.mem_user_data)
            }
        }
        for block in blocks {
            check(block.address, block.size, block.byte)
            functions.free(block.address, functions.mem_user_data)
        }
    }

    @Test("Memory that is asked for as zeros is zeros, also where a block had something in it")
    func zeroes() throws {
        let memory = SessionMemory()
        let functions = memory.functions
        let used = try #require(functions.malloc(100, functions.mem_user_data))
        fill(used, 100, 0xFF)
        functions.free(used, functions.mem_user_data)
        let again = try #require(functions.calloc(10, 10, functions.mem_user_data))
        #expect(again == used, "it was given back, and is given out again")
        check(again, 100, 0)
        functions.free(again, functions.mem_user_data)
        #expect(functions.calloc(.max, 2, functions.mem_user_data) == nil)
        functions.free(nil, functions.mem_user_data)
    }

    @Test("A large block keeps its content as it grows, and may be given back")
    func largeBlocks() throws {
        let memory = SessionMemory()
        let functions = memory.functions
        var block = try #require(functions.malloc(3_000, functions.mem_user_data))
        fill(block, 3_000, 7)
        var size = 3_000
        for larger in [10_000, 16_394, 40_000, 200_000] {
            block = try #require(functions.realloc(block, larger, functions.mem_user_data))
            check(block, size, 7)
            fill(block, larger, 7)
            size = larger
        }
        block = try #require(functions.realloc(block, 100, functions.mem_user_data))
        check(block, 100, 7)
        functions.free(block, functions.mem_user_data)
    }

    @Test("What is written is what was appended, and its memory serves the next connection")
    func borrowedOutput() throws {
        let loop = try EventLoop(name: "buffers")
        defer { loop.stopAndJoin() }
        let buffers = loop.buffers
        var random = SeededGenerator(seed: 9)
        var output = OutputBuffer(buffers)
        var expected: [UInt8] = []
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 1...40_000, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
            if expected.count < 300_000 {
                output.append(bytes, count: bytes.count)
                expected += bytes
            }
            #expect(output.unwritten.elementsEqual(expected))
            let written = Int.random(in: 0...expected.count, using: &random)
            output.removeFirst(written)
            expected.removeFirst(written)
            #expect(output.isEmpty == expected.isEmpty)
        }
        output.removeFirst(expected.count)
        let borrowed = buffers.take()
        buffers.giveBack(borrowed)
        output.append([1, 2, 3], count: 3)
        #expect(output.unwritten.baseAddress == UnsafeRawPointer(borrowed.baseAddress))
        output.removeFirst(3)
        #expect(buffers.take().baseAddress == borrowed.baseAddress)
        borrowed.deallocate()
    }

    private func fill(_ address: UnsafeMutableRawPointer, _ size: Int, _ byte: UInt8) {
        UnsafeMutableRawBufferPointer(start: address, count: size).initializeMemory(as: UInt8.self, repeating: byte)
    }

    private func check(_ address: UnsafeMutableRawPointer, _ size: Int, _ byte: UInt8) {
        #expect(UnsafeRawBufferPointer(start: address, count: size).allSatisfy { $0 == byte })
    }
}
