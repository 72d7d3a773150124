import Testing

@Suite("The rules of the code")
struct CodeRuleTests {
    /// Texts that code may not have, each with its replacement.
    private static let banned: [(text: String, instead: String)] = [
        ("try!", "catch the error and say what to do"),
        ("as!", "use as? and handle the other case"),
        ("fatalError(", "throw; or precondition(), for an error of the programmer alone"),
        ("nonisolated(unsafe)", "use Mutex, Atomic or LoopBound"),
        ("CommandLine.arguments", "use ProcessArguments, which also has them under a preloaded library"),
    ]

    @Test("No source uses a construct that crashes or hides a race")
    func noBannedConstruct() {
        for file in Repository.sources + Repository.kit {
            for (index, line) in file.codeLines.enumerated() {
                for rule in Self.banned where line.contains(rule.text) {
                    Issue.record("\(file.place(index)) uses \(rule.text): \(rule.instead)")
                }
            }
        }
    }

    /// Where names that came from outside are gathered; `String` would take some for one that have other bytes.
    ///
    /// Paths below the folder of a ring.
    private static let foldersOfNames = [
        "SQLiteRegistry/Devices/", "SQLiteRegistry/Resolving/", "SQLiteRegistry/Subscriptions/",
        "SQLiteRegistry/SQLite", "PostgresRegistry/Devices/", "PostgresRegistry/Resolving/",
        "PostgresRegistry/Subscriptions/", "PostgresRegistry/PostgresRegistry+", "RegistryCore/Devices/",
        "RegistryCore/Audiences/", "RegistryCore/Subscriptions/", "Notifications/", "Backoffice/Transfer/RegistryCopy",
        "Dispatcher/Pipeline/Records/", "RegistryAPI/Native/", "RegistryAPI/CloudKit/", "RegistryAPI/Cognito/",
        "RegistryAPI/Server/", "RegistryAPI/Routing/DeviceRegistrar", "RegistryAPI/Routing/CredentialGuard",
        "RegistryAPI/Configuration/", "RegistryAPI/Tokens/", "ChangeEvents/Tables/",
    ]

    @Test("Sets and dictionaries of names compare their bytes")
    func namesAreBytes() {
        for file in Repository.sources where Self.foldersOfNames.contains(where: { file.path.contains("/\($0)") }) {
            for (index, line) in file.codeLines.enumerated() {
                for type in ["Set<String>", "[String: "] where line.contains(type) {
                    Issue.record("\(file.place(index)) has \(type): use ByteText, whose equality is that of the bytes")
                }
            }
        }
    }

    @Test("Each @unchecked Sendable says why it is safe, on its own line or on the line directly above")
    func uncheckedSendableIsExplained() {
        for file in Repository.swiftFiles {
            for (index, line) in file.codeLines.enumerated() where line.contains("@unchecked") {
                let places = file.lines[max(0, index - 1)...index]
                #expect(
                    places.contains { $0.contains("unchecked because ") },
                    "\(file.place(index)): neither it nor the line above says 'unchecked because …'")
            }
        }
    }

    @Test("Only the command prints")
    func onlyTheCommandPrints() {
        for file in Repository.sources + Repository.kit where file.target != "apus" {
            for (index, line) in file.codeLines.enumerated() {
                #expect(!containsCall("print", in: line), "\(file.place(index)) prints: log, or return the text")
            }
        }
    }

    @Test("Tests wait for events, never for time")
    func testsDoNotSleep() {
        for file in Repository.tests {
            for (index, line) in file.codeLines.enumerated() {
                for call in ["sleep", "usleep", "nanosleep"] where containsCall(call, in: line) {
                    Issue.record("\(file.place(index)) sleeps: wait for the event itself, with a deadline")
                }
            }
        }
    }

    /// A loop that yields and looks again has no deadline and takes a whole processor from what it waits for.
    @Test("Tests poll with a deadline and pauses, never in a loop of their own")
    func testsDoNotSpin() {
        for file in Repository.tests + Repository.kit + Repository.benchmarks where file.name != "CodeRuleTests" {
            for (index, line) in file.codeLines.enumerated() {
                let words = line.split { !($0.isLetter || $0.isNumber) }
                // The values of a sequence come by themselves.
                let isPollingLoop = words.contains("while") && words.contains("await") && !line.contains(".next()")
                if line.contains("Task.yield") || isPollingLoop {
                    Issue.record("\(file.place(index)) polls: use eventually(), or Watched for a state of the test")
                }
            }
        }
    }

    /// Foundation's `Process` sees an end by a socket that is open in all that are started meanwhile, so that it may
    /// wait for the end of a broker.
    @Test("Tests start programs in ways that wait for those programs alone")
    func testsStartProgramsSafely() {
        for file in Repository.tests + Repository.kit + Repository.sources {
            for (index, line) in file.codeLines.enumerated() where containsCall("Process", in: line) {
                Issue.record("\(file.place(index)) uses Foundation's Process: use CommandRunner or RunningCommand")
            }
        }
    }

    @Test("Nothing is left undone in a comment")
    func noMarkersOfUnfinishedWork() {
        let markers = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
        for file in Repository.swiftFiles {
            for (index, line) in file.lines.enumerated() {
                let words = line.split { !($0.isLetter || $0.isNumber) }
                for marker in markers where words.contains(where: { $0 == marker }) {
                    Issue.record("\(file.place(index)) contains \(marker): do it, or say why it is so")
                }
            }
        }
    }

    /// Tells whether a line calls a function of that name that is not a member of something of ours.
    private func containsCall(_ name: String, in line: Substring) -> Bool {
        line.ranges(of: name + "(").contains { range in
            guard let before = line[..<range.lowerBound].last else {
                return true
            }
            let isTaskMember = line[..<range.lowerBound].hasSuffix("Task.")
            return isTaskMember || !(before.isLetter || before.isNumber || before == "_" || before == ".")
        }
    }
}
