/// A number that tells two runs apart: it follows from everything that was mixed into it, in order.
struct Digest {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func mix(_ number: UInt64) {
        value = (value ^ number) &* 0x9e37_79b9_7f4a_7c15
        value ^= value >> 29
    }

    mutating func mix(_ number: Int) { mix(UInt64(bitPattern: Int64(number))) }
}
