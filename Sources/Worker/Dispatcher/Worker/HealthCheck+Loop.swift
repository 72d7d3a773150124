import AdminServer

extension HealthCheck {
    /// A loop that hangs for longer than this, in seconds, makes `/livez` fail; connecting to the broker may block its
    /// loop for less.
    private static let hangSecondsMaximum: UInt64 = 60

    /// Whether a loop turns.
    init(loop name: String, nanosecondsSinceLastTick nanoseconds: UInt64) {
        let seconds = nanoseconds / 1_000_000_000
        let isHanging = seconds >= Self.hangSecondsMaximum
        self.init("loop \(name)", failure: isHanging ? "has not turned for \(seconds) s" : nil)
    }
}
