/// How long the registry keeps what about fan-outs, and how large their numbers can be.
public enum FanOutRules {
    /// How long a planner has a fan-out for itself after each of its steps; then another may go on with it.
    public static let planningMilliseconds: Int64 = 5_000
    /// How long a fan-out that is done is remembered, so that a redelivery of its event or of a chunk is known.
    public static let doneKeptMilliseconds: Int64 = 86_400_000
    /// How long any other is remembered: longer than its messages can be of use.
    public static let otherKeptMilliseconds: Int64 = 30 * 86_400_000
    /// How many are forgotten at once at most, so that no call takes long.
    public static let forgottenAtOnceMaximum = 10
    /// The most chunks and devices that a fan-out can have.
    public static let countMaximum = 1 << 40

    /// A number of chunks or devices as a message or a row says it, or the nearest one that there can be.
    public static func count(_ number: Int64) -> Int { Int(min(max(0, number), Int64(countMaximum))) }
}
