import CLinux

/// The words that the process was started with, as the C library has them.
///
/// `CommandLine.arguments` is empty under a preloaded library that changes the environment, such as libfaketime
/// (swiftlang/swift#76080): a program then takes itself for one that was started without words.
public enum ProcessArguments {
    /// The process was started without a single word, not even its own name.
    public struct Missing: Error, CustomStringConvertible {
        /// The problem, and the remedy.
        public var description: String {
            "the program was started with an empty list of arguments; start it with its name as the first of them"
        }
    }

    /// The words after the program's name.
    ///
    /// - Throws: `Missing` if not even the name is there. Linux 5.18 and newer put an empty text in its place.
    public static func words() throws(Missing) -> [String] {
        var count: Int32 = 0
        let first = clinux_arguments(&count)
        let all = (0..<Int(max(count, 0))).compactMap { first?[$0] }.map { String(cString: $0) }
        guard all.count > 1 || all.first?.isEmpty == false else { throw Missing() }
        return Array(all.dropFirst())
    }
}
