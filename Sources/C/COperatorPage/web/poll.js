// When data is asked for again. A pure state machine, tested by node; `app.js` has the timer.

export const BACK_OFF_SECONDS_MAXIMUM = 60;

/// Asks at an interval, later after each failure, and not at all while nobody looks.
export class PollSchedule {
    /// - random: a number from 0 to 1, which spreads pages that lost the same server.
    constructor(intervalSeconds, random = Math.random) {
        this.intervalSeconds = intervalSeconds;
        this.failures = 0;
        this.isHidden = false;
        this.retryAfterSeconds = 0;
        this.random = random;
    }

    succeeded() {
        this.failures = 0;
        this.retryAfterSeconds = 0;
    }

    /// - retryAfterSeconds: what the server asked for, if it did.
    failed(retryAfterSeconds = 0) {
        this.failures += 1;
        this.retryAfterSeconds = retryAfterSeconds;
    }

    /// Seconds until the next request; null for never.
    get delaySeconds() {
        if (this.isHidden || !this.intervalSeconds) return null;
        if (this.failures === 0) return this.intervalSeconds;
        const doubled = this.intervalSeconds * 2 ** Math.min(this.failures, 10);
        const spread = Math.min(doubled, BACK_OFF_SECONDS_MAXIMUM) * (0.75 + 0.25 * this.random());
        return Math.max(spread, this.retryAfterSeconds);
    }
}
