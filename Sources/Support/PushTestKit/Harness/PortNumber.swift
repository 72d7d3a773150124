/// Ports that programs print.
enum PortNumber {
    /// The number that follows the first occurrence of a text; nil if none does.
    static func after(_ marker: String, in text: Substring) -> UInt16? {
        text.split(separator: marker, maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
            .flatMap { UInt16($0.prefix { $0.isNumber }) }
    }
}
