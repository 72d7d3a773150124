/// Durations as people read them.
public enum DurationText {
    /// Writes microseconds with three digits: `840 µs`, `12.3 ms`, `4.56 s`.
    public static func of(_ microseconds: UInt64) -> String {
        if microseconds < 1_000 { return "\(microseconds) µs" }
        if microseconds < 1_000_000 { return threeDigits(Double(microseconds) / 1_000) + " ms" }
        return threeDigits(Double(microseconds) / 1_000_000) + " s"
    }

    /// Writes a positive number with three digits, or with all of its digits before the point.
    static func threeDigits(_ number: Double) -> String {
        let decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0
        return fixed(number, decimals: decimals)
    }

    /// Writes a positive number with a number of decimals.
    static func fixed(_ number: Double, decimals: Int) -> String {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let scaled = (min(max(0, number), 1e15) * scale).rounded()
        let whole = Int(scaled / scale)
        guard decimals > 0 else { return "\(whole)" }
        let fraction = String(Int(scaled) - whole * Int(scale))
        return "\(whole)." + String(repeating: "0", count: decimals - fraction.utf8.count) + fraction
    }
}
