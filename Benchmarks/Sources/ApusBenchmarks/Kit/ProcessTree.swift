import Foundation

/// A process and all that descend from it, as `/proc` shows them.
struct ProcessTree {
    private struct Member {
        let identifier: Int32
        let parent: Int32
        /// When it began, which tells it from another that gets its number later.
        let beganTicks: String
        let residentPages: Int
        let isOver: Bool

        /// The fields of `/proc/PID/stat` after the name, which is in parentheses (proc(5)).
        private static let stateField = 0
        private static let parentField = 1
        private static let beganField = 19
        private static let residentPagesField = 21

        init?(_ identifier: Int32) {
            guard let text = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8) else {
                return nil
            }
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > Self.residentPagesField, let parent = Int32(fields[Self.parentField]) else {
                return nil
            }
            self.identifier = identifier
            self.parent = parent
            beganTicks = String(fields[Self.beganField])
            residentPages = Int(fields[Self.residentPagesField]) ?? 0
            // A zombie: the process has ended, and its parent has not waited for it yet.
            isOver = fields[Self.stateField] == "Z"
        }
    }

    private let members: [Member]

    /// Looks who descends from a process now.
    init(of root: Int32) {
        var children: [Int32: [Member]] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let member = Int32(name).flatMap(Member.init) else { continue }
            children[member.parent, default: []].append(member)
        }
        var members = Member(root).map { [$0] } ?? []
        var next = 0
        while next < members.count {
            members += children[members[next].identifier] ?? []
            next += 1
        }
        self.members = members
    }

    /// How much memory they had resident together, in MiB; pages that several share count for each.
    var residentMebibytes: Int {
        (members.reduce(0) { $0 + $1.residentPages } * Int(sysconf(Int32(_SC_PAGESIZE)))) >> 20
    }

    /// The members that still run.
    var running: [Int32] {
        members.filter { member in
            guard let now = Member(member.identifier) else { return false }
            return now.beganTicks == member.beganTicks && !now.isOver
        }.map(\.identifier)
    }
}
