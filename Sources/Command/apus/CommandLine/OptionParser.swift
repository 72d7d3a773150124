import CCommandLine
import ChangeEvents
import Glibc
import Synchronization

/// Reads options as every GNU tool does, through glibc's `getopt_long`: `--name VALUE`, `--name=VALUE`, unambiguous
/// abbreviations, clusters of letters, `--` for the end of the options, options and operands in any order.
enum OptionParser {
    /// The options and operands of a command line.
    struct Parsed {
        /// The values by the long name of their option; a flag has an empty value for each time that it was given.
        var values: [String: [String]] = [:]
        /// The rest, in order.
        var operands: [String] = []
    }

    /// Guards getopt's global state.
    private static let lock = Mutex(())

    /// The code that stands for the long form of the first option: above every letter.
    private static let firstLongCode: Int32 = 256

    /// Reads the words after the command's own words.
    ///
    /// - Throws: `CommandFailure.usage` at the first word that cannot be understood.
    static func parse(_ words: [String], options: [CommandOption]) throws(CommandFailure) -> Parsed {
        // getopt reorders the array, and ends its reading at a null.
        var arguments: [UnsafeMutablePointer<CChar>?] = (["apus"] + words).map { strdup($0) } + [nil]
        let owned = arguments
        var longOptions = options.enumerated().map { index, item in
            CCommandLine.option(
                name: UnsafePointer(strdup(item.name)),
                has_arg: item.valueName == nil ? no_argument : required_argument,
                flag: nil,
                val: firstLongCode + Int32(index)
            )
        }
        longOptions.append(CCommandLine.option())
        defer {
            for pointer in owned { free(pointer) }
            for item in longOptions { free(UnsafeMutablePointer(mutating: item.name)) }
        }
        let result: Result<Parsed, CommandFailure> = lock.withLock { _ in
            do throws(CommandFailure) {
                return .success(try scan(&arguments, options: options, longOptions: longOptions))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func scan(
        _ arguments: inout [UnsafeMutablePointer<CChar>?],
        options: [CommandOption],
        longOptions: [CCommandLine.option]
    ) throws(CommandFailure) -> Parsed {
        var parsed = Parsed()
        // The colon at the front makes a missing value distinguishable from an unknown option.
        let letters =
            ":"
            + options.compactMap { item in item.letter.map { item.valueName == nil ? "\($0)" : "\($0):" } }
            .joined()
        let count = Int32(arguments.count - 1)
        ccommandline_getopt_reset()
        while true {
            let step = ccommandline_getopt_next(count, &arguments, letters, longOptions)
            if step.code == -1 {
                parsed.operands = arguments[Int(step.next_index)..<Int(count)].compactMap {
                    $0.map { String(cString: $0) }
                }
                return parsed
            }
            guard let found = find(step.code, in: options) else {
                let word = arguments[max(0, Int(step.next_index) - 1)].map { String(cString: $0) } ?? ""
                throw failure(step, word: word, options: options)
            }
            parsed.values[found.name, default: []].append(step.argument.map { String(cString: $0) } ?? "")
        }
    }

    private static func find(_ code: Int32, in options: [CommandOption]) -> CommandOption? {
        if code >= firstLongCode { return options[Int(code - firstLongCode)] }
        return options.first { $0.letter?.asciiValue.map(Int32.init) == code }
    }

    private static func failure(_ step: ccommandline_getopt_step, word: String, options: [CommandOption])
        -> CommandFailure
    {
        let offending = find(step.offending_code, in: options)
        if step.code == Int32(UInt8(ascii: ":")), let offending {
            return .usage("--\(offending.name) needs a value: --\(offending.name) \(offending.valueName ?? "VALUE")")
        }
        if let offending { return .usage("--\(offending.name) takes no value") }
        if step.offending_code != 0, let letter = UInt8(exactly: step.offending_code).map(UnicodeScalar.init) {
            return .usage("unknown option '-\(letter)'")
        }
        let name = String(word.drop { $0 == "-" }.prefix { $0 != "=" })
        let candidates = options.map(\.name).filter { $0.hasPrefix(name) }
        if candidates.count > 1 {
            return .usage("'--\(name)' may be " + candidates.map { "--\($0)" }.joined(separator: " or "))
        }
        return .usage(
            "unknown option '--\(name)'" + Suggestion.text(for: name, among: options.map(\.name), prefix: "--")
        )
    }
}

/// "Did you mean ...?" for a word that is not known.
enum Suggestion {
    /// The end of the sentence, or nothing if no known word is near.
    static func text(for word: String, among known: [String], prefix: String = "") -> String {
        guard let nearest = SpellingSuggestion.nearest(to: word, among: known) else { return "" }
        return ", did you mean '\(prefix)\(nearest)'?"
    }
}
