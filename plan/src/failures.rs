//! Failures on a long run: how often to save, and how long it takes with restarts.
//!
//! With a mean time `M` between failures of the whole cluster, and `C` seconds that training stands still for a checkpoint, the best interval
//! is near `sqrt(2 C M)` (Young, CACM 17, 1974), more exactly that of Daly (Future Generation Computer Systems 22, 2006). The expected
//! time of work `W` saved every `t` is `M e^(R/M) (e^((t+C)/M) - 1) W / t`, with `R` seconds for a restart (Daly, equation 20).

/// How often a cluster fails, and what saving and restarting take, in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Failures {
    /// The mean time between failures of the whole cluster.
    pub between: f64,
    /// The time that training stands still for a checkpoint.
    pub save: f64,
    /// From a failure to the first update after it, but for lost work.
    pub restart: f64,
}

/// A run with failures, in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Run {
    /// The interval between checkpoints that takes least.
    pub interval: f64,
    /// The expected time from begin to end.
    pub expected: f64,
    /// One standard deviation of that, where failures come independently of one another.
    pub spread: f64,
}

impl Failures {
    /// The interval between checkpoints that takes least time (Daly's expansion; the mean time itself where saving takes long).
    pub fn interval(&self) -> f64 {
        let Self { between, save, .. } = *self;
        if save >= 2.0 * between {
            return between;
        }
        let ratio = save / (2.0 * between);
        (2.0 * save * between).sqrt() * (1.0 + ratio.sqrt() / 3.0 + ratio / 9.0) - save
    }

    /// A run of so much work, in seconds without failures or checkpoints.
    pub fn run(&self, work: f64) -> Run {
        let Self { between, save, restart } = *self;
        let interval = self.interval().max(1.0).min(work.max(1.0));
        let segments = work / interval;
        let length = interval + save;
        let expected = segments * between * (restart / between).exp() * (length / between).exp_m1();
        // Failures are counted by a Poisson process; each loses half an interval and a restart.
        let lost = restart + length / 2.0;
        Run { interval, expected, spread: (expected / between).sqrt() * lost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: f64 = 86_400.0;

    #[test]
    fn the_interval_takes_no_longer_than_its_neighbours() {
        for (between, save) in [(DAY, 60.0), (DAY / 8.0, 120.0), (30.0 * DAY, 10.0), (3600.0, 300.0)] {
            let failures = Failures { between, save, restart: 600.0 };
            let time = |interval: f64| ((interval + save) / between).exp_m1() / interval;
            let best = failures.interval();
            for other in [0.8 * best, 1.25 * best] {
                assert!(time(best) < time(other), "{between} {save}: {best}");
            }
        }
    }

    #[test]
    fn without_failures_a_run_takes_its_work_and_its_checkpoints() {
        let run = Failures { between: 1e15, save: 0.0, restart: 600.0 }.run(DAY);
        assert!((run.expected - DAY).abs() < 1e-3 * DAY, "{run:?}");
    }

    /// A simulation with its own generator: 400 runs of 30 days.
    #[test]
    fn the_expected_time_is_that_of_simulated_runs() {
        let failures = Failures { between: 0.5 * DAY, save: 90.0, restart: 900.0 };
        let told = failures.run(30.0 * DAY);
        let mut state = 7_u64;
        let mut waits = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            -failures.between * (((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64).ln()
        };
        let mut simulated = 0.0;
        for _ in 0..400 {
            let (mut time, mut done) = (0.0, 0.0);
            let mut next = waits();
            while done < 30.0 * DAY {
                let need = told.interval + failures.save;
                if next >= need {
                    (time, done, next) = (time + need, done + told.interval, next - need);
                } else {
                    // Daly counts the restart as work that may fail as well.
                    time += next;
                    next = waits();
                    while next < failures.restart {
                        time += next;
                        next = waits();
                    }
                    time += failures.restart;
                    next -= failures.restart;
                }
            }
            simulated += time / 400.0;
        }
        assert!((told.expected / simulated - 1.0).abs() < 0.01, "{} {simulated}", told.expected);
    }
}
