import Foundation

/// A process and all that descend from it, as `/proc` shows them.
enum ProcessTree {
    /// The fields of `/proc/PID/stat` after the name, which is in parentheses (proc(5)).
    private static let parentField = 1
    private static let residentPagesField = 21

    /// How much memory they have resident together, in MiB; pages that several share count for each.
    static func residentMebibytes(below root: Int32) -> Int {
        var children: [Int32: [Int32]] = [:]
        var pages: [Int32: Int] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let identifier = Int32(name),
                let text = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)
            else { continue }
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > residentPagesField, let parent = Int32(fields[parentField]) else { continue }
            children[parent, default: []].append(identifier)
            pages[identifier] = Int(fields[residentPagesField])
        }
        var total = 0
        var open = [root]
        while let identifier = open.popLast() {
            total += pages[identifier] ?? 0
            open += children[identifier] ?? []
        }
        return total * Int(sysconf(Int32(_SC_PAGESIZE))) >> 20
    }
}
