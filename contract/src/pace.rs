//! How long to wait before the next attempt, and when attempts are used up (contract 3.2).
//! Knows no clock and no randomness; both come in as arguments.

use std::time::Duration;

/// How often and how fast to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RetryPolicy {
    /// Attempts without progress before giving up.
    pub max_attempts: u32,
    /// Backoff before the first attempt; doubles with each.
    pub base: Duration,
    /// The backoff never exceeds this. It never lowers `retry:` or `Retry-After`.
    pub cap: Duration,
}

impl RetryPolicy {
    /// Five attempts, from one second up to thirty.
    pub const DEFAULT: RetryPolicy =
        RetryPolicy { max_attempts: 5, base: Duration::from_secs(1), cap: Duration::from_secs(30) };

    /// The capped exponential backoff before attempt number `attempts` (from 0).
    #[must_use]
    pub fn backoff(&self, attempts: Attempts) -> Duration {
        let factor = 1_u32.checked_shl(attempts.0).unwrap_or(u32::MAX);
        self.base.saturating_mul(factor).min(self.cap)
    }

    /// The longest backoff this policy ever asks for; a server's retention has to outlast it (contract 3.5).
    #[must_use]
    pub fn longest_backoff(&self) -> Duration {
        self.backoff(Attempts(self.max_attempts.saturating_sub(1)))
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy::DEFAULT
    }
}

/// Attempts on one stream since it last made progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attempts(u32);

impl Attempts {
    /// None yet.
    pub const NONE: Attempts = Attempts(0);

    /// A given count, as restored from storage.
    #[must_use]
    pub const fn new(count: u32) -> Attempts {
        Attempts(count)
    }

    /// How many.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0
    }

    /// After one more attempt, whatever it was answered: a 200 alone is no progress (contract 3.2).
    #[must_use]
    pub const fn after_attempt(self) -> Attempts {
        Attempts(self.0.saturating_add(1))
    }

    /// After an event: one with a new id resets the count, any other leaves it (contract 3.2).
    #[must_use]
    pub const fn after_event(self, has_new_id: bool) -> Attempts {
        if has_new_id { Attempts::NONE } else { self }
    }
}

/// What bears on the wait, besides the policy. The default asks for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pace {
    /// The last `retry:` of the stream.
    pub retry: Option<Duration>,
    /// `Retry-After` of the answer.
    pub retry_after: Option<Duration>,
    /// Random extra wait; only ever added.
    pub jitter: Duration,
}

/// The wait before the next attempt: the larger of `retry:`, `Retry-After` and the capped backoff, plus the jitter
/// (contract 3.2).
#[must_use]
pub fn delay(policy: &RetryPolicy, attempts: Attempts, pace: &Pace) -> Duration {
    let told = pace.retry.unwrap_or_default().max(pace.retry_after.unwrap_or_default());
    told.max(policy.backoff(attempts)).saturating_add(pace.jitter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn backoff_doubles_up_to_the_cap() {
        let waits: Vec<u64> =
            (0..8).map(|n| RetryPolicy::DEFAULT.backoff(Attempts::new(n)).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(RetryPolicy::DEFAULT.longest_backoff().as_secs(), 16);
    }

    #[test]
    fn the_cap_never_lowers_retry() {
        let pace = Pace { retry: Some(Duration::from_secs(90)), ..Pace::default() };
        assert_eq!(delay(&RetryPolicy::DEFAULT, Attempts::NONE, &pace).as_secs(), 90);
    }

    #[test]
    fn only_a_new_event_id_resets_the_count() {
        let tried = Attempts::NONE.after_attempt().after_attempt();
        assert_eq!(tried.after_event(false).count(), 2);
        assert_eq!(tried.after_event(true), Attempts::NONE);
        assert_eq!(Attempts::new(u32::MAX).after_attempt().count(), u32::MAX);
    }

    fn durations() -> impl Strategy<Value = Duration> {
        prop_oneof![(0_u64..100_000).prop_map(Duration::from_millis), Just(Duration::MAX)]
    }

    proptest! {
        #[test]
        fn delay_is_never_below_what_the_server_asked(
            retry in proptest::option::of(durations()),
            after in proptest::option::of(durations()),
            jitter in durations(),
            base in durations(),
            cap in durations(),
            count in any::<u32>(),
        ) {
            let policy = RetryPolicy { max_attempts: 5, base, cap };
            let pace = Pace { retry, retry_after: after, jitter };
            let wait = delay(&policy, Attempts::new(count), &pace);
            prop_assert!(wait >= retry.unwrap_or_default());
            prop_assert!(wait >= after.unwrap_or_default());
            let calm = delay(&policy, Attempts::new(count), &Pace { jitter: Duration::ZERO, ..pace });
            prop_assert_eq!(wait, calm.saturating_add(jitter));
            prop_assert!(policy.backoff(Attempts::new(count)) <= cap);
        }
    }
}
