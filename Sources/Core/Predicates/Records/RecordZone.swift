/// The zones that records lie in (CloudKit).
public enum RecordZone {
    /// The name of the zone that a record lies in, and a reference points into, unless another one is named.
    public static let defaultName = "_defaultZone"
}
