import RegistryCore

/// The requirements for every implementation of `WorkerReportRegistry`, `AuditRegistry` and `PauseRegistry`.
enum OperationsConformance {
    private static let now: Int64 = 1_700_000_000_000

    /// All checks.
    static let all = [
        RegistryConformance("The newest report of each process is kept, in the order of their names") { registry in
            try registry.saveReport(report("b", at: 0))
            try registry.saveReport(report("a", at: 1))
            try registry.saveReport(report("b", at: 2, "second"))
            try RegistryConformance.expect(
                try registry.workerReports(), is: [report("a", at: 1), report("b", at: 2, "second")], "the reports")
            try registry.removeReport(of: "a")
            try registry.removeReport(of: "nobody")
            try RegistryConformance.expect(try registry.workerReports().map(\.identifier), is: ["b"], "the rest")
        },
        RegistryConformance("A report that is too old is forgotten when another process reports") { registry in
            try registry.saveReport(report("old", at: 0))
            try registry.saveReport(report("young", at: 1))
            try registry.saveReport(report("own", at: WorkerReportRules.keptMilliseconds + 1))
            try RegistryConformance.expect(
                try registry.workerReports().map(\.identifier), is: ["own", "young"], "the reports")
        },
        RegistryConformance("A report that is too large is refused, and the last one stays") { registry in
            try registry.saveReport(report("a", at: 0))
            try RegistryConformance.expect(.invalid, "a large report") {
                let content = [UInt8](repeating: 0x20, count: WorkerReportRules.contentBytesMaximum + 1)
                try registry.saveReport(WorkerReport(identifier: "a", reportedAtMilliseconds: now, content: content))
            }
            try RegistryConformance.expect(try registry.workerReports(), is: [report("a", at: 0)], "the reports")
        },
        RegistryConformance("The audit log numbers its entries, and gives back all that was written") { registry in
            let entries = (0..<5).map { entry($0) }
            let numbers = try entries.map { try registry.addAuditEntry($0) }
            try RegistryConformance.expect(numbers, is: numbers.sorted(), "the numbers")
            try RegistryConformance.expect(Set(numbers).count, is: 5, "different numbers")
            let numbered = zip(entries, numbers).map { entry, number in
                var entry = entry
                entry.number = number
                return entry
            }
            try RegistryConformance.expect(
                try registry.auditEntries(before: nil, limit: 3), is: numbered.reversed().prefix(3).map(\.self),
                "the newest")
            try RegistryConformance.expect(
                try registry.auditEntries(before: numbers[2], limit: 9), is: numbered[..<2].reversed(), "the rest")
            try RegistryConformance.expect(try registry.auditEntry(numbers[1]), is: numbered[1], "one entry")
            try RegistryConformance.expect(try registry.auditEntry(numbers[4] + 1), is: nil, "no entry")
        },
        RegistryConformance("An entry of the audit log changes in its progress only") { registry in
            let number = try registry.addAuditEntry(entry(1))
            let progress = AuditEntry.Progress(
                .failed, doneCount: 7, refusedCount: 2, detail: "RabbitMQ \"went\" away", changedAtMilliseconds: now + 9
            )
            try registry.updateAuditEntry(number, progress)
            try registry.updateAuditEntry(number + 1, progress)
            var expected = entry(1)
            expected.number = number
            expected.progress = progress
            try RegistryConformance.expect(
                try registry.auditEntries(before: nil, limit: 9), is: [expected], "the entries")
        },
        RegistryConformance("A pause is kept until it is ended, and another of the same takes its place") { registry in
            try RegistryConformance.expect(try registry.pauses(), is: [], "no pauses")
            try registry.setPause(pause("shop", "a \"bad\" release ä"))
            try registry.setPause(pause("chat", ""))
            try registry.setPause(pause(nil, "maintenance"))
            try registry.setPause(pause("chat", "second"))
            try RegistryConformance.expect(
                try registry.pauses(),
                is: [pause(nil, "maintenance"), pause("chat", "second"), pause("shop", "a \"bad\" release ä")],
                "the pauses")
            try RegistryConformance.expect(try registry.removePause(app: nil), is: true, "the end of all")
            try RegistryConformance.expect(try registry.removePause(app: nil), is: false, "its second end")
            try RegistryConformance.expect(try registry.removePause(app: "chat"), is: true, "the end of chat")
            try RegistryConformance.expect(try registry.removePause(app: "mail"), is: false, "the end of no pause")
            try RegistryConformance.expect(try registry.pauses().map(\.app), is: ["shop"], "the rest")
        },
        RegistryConformance("A pause with too long a reason, or of an app without a name, is refused") { registry in
            let long = String(repeating: "ä", count: AppPause.reasonBytesMaximum / 2 + 1)
            for pause in [pause("chat", long), pause("", "")] {
                try RegistryConformance.expect(.invalid, "the pause") { try registry.setPause(pause) }
            }
            try RegistryConformance.expect(try registry.pauses(), is: [], "no pauses")
        },
        RegistryConformance("The topics of a device are its own and its user's, sorted by their bytes") { registry in
            try registry.upsert([
                try RegistryConformance.device("d1", user: "mei"), try RegistryConformance.device("d2"),
            ])
            for topic in ["b", "a", "Z"] { try registry.subscribe("d1", toTopic: topic) }
            try registry.subscribeUser("mei", app: "chat", toTopic: "ä")
            try registry.subscribeUser("mei", app: "chat", toTopic: "a")
            try registry.subscribeUser("anna", app: "chat", toTopic: "other")
            try RegistryConformance.expect(try registry.topics(of: "d1"), is: ["Z", "a", "b", "ä"], "of d1")
            try RegistryConformance.expect(try registry.topics(of: "d2"), is: [], "of d2")
            try RegistryConformance.expect(try registry.topics(of: "nobody"), is: [], "of no device")
        },
    ]

    private static func pause(_ app: String?, _ reason: String) -> AppPause {
        AppPause(app: app, reason: reason, user: "maria", atMilliseconds: now)
    }

    private static func report(_ identifier: String, at offset: Int64, _ text: String = "first") -> WorkerReport {
        WorkerReport(identifier: identifier, reportedAtMilliseconds: now + offset, content: Array(text.utf8))
    }

    private static func entry(_ index: Int) -> AuditEntry {
        AuditEntry(
            atMilliseconds: now + Int64(index), user: "maria", role: "operator", address: "10.0.0.\(index)",
            process: "host-\(index)", action: AuditEntry.Action.purgeDeadLetters.rawValue,
            target: "reason=no-token app=\"chat\" ä", selectedCount: index,
            progress: AuditEntry.Progress(.running, changedAtMilliseconds: now))
    }
}
