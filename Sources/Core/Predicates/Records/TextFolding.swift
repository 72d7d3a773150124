import Geography
internal import UnicodeText

/// Which differences between texts do not count when they are compared for equality.
public enum TextFolding: UInt8, Hashable, Sendable, CaseIterable {
    /// All count (AppSync; CloudKit everywhere but in equality).
    case exact
    /// Upper and lower case are the same (CloudKit's equality).
    case caseInsensitive
}
