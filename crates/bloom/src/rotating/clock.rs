//! The clock of a window by time: which readings it follows, which it suspects, and when a
//! generation ends. Pure arithmetic; the rules and their bounds are claim 7 of the protocol.

use super::plan::TICKS;

/// The suspect clocks that are known at a time: a real one, and a wrong reading above it.
const SUSPECTS: usize = 2;

/// The readings that make a suspect clock one to follow. A few late readings are no clock.
const READINGS: u64 = 4;

/// The times of a window, in nanoseconds. The words of a filter hold it, under upkeep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// The end of the current generation; 0 before the first reading.
    pub(crate) due: u64,
    /// The highest reading that was followed.
    newest: u64,
    /// The newest reading of the clock that was left, until this one reaches it, or 0. Jumps to it
    /// or above are suspect.
    left: u64,
    /// The last suspect reading above `newest`.
    ahead: u64,
    /// The number of times that suspect readings took over.
    pub(crate) changes: u64,
    suspects: [Suspect; SUSPECTS],
}

/// Suspect readings, each higher than the one before, since the last followed reading above
/// `newest`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Suspect {
    first: u64,
    latest: u64,
    /// Their number; 0 if there are none.
    readings: u64,
}

impl Clock {
    /// The words that hold a clock.
    pub(crate) const WORDS: usize = 5 + 3 * SUSPECTS;

    /// Returns the clock of a filter whose current generation ends at `due`; 0 before the first
    /// reading.
    pub(crate) const fn of_due(due: u64, length: u64) -> Self {
        let newest = due.saturating_sub(length);
        let none = Suspect { first: 0, latest: 0, readings: 0 };
        Self { due, newest, left: 0, ahead: 0, changes: 0, suspects: [none; SUSPECTS] }
    }

    /// Returns the clock before its first reading.
    pub(crate) fn forgotten(&self) -> Self {
        Self { changes: self.changes, ..Self::default() }
    }

    pub(crate) const fn of_words(words: [u64; Self::WORDS]) -> Self {
        let [due, newest, left, ahead, changes, a, b, c, d, e, f] = words;
        let suspects = [
            Suspect { first: a, latest: b, readings: c },
            Suspect { first: d, latest: e, readings: f },
        ];
        Self { due, newest, left, ahead, changes, suspects }
    }

    pub(crate) const fn words(&self) -> [u64; Self::WORDS] {
        let Self { due, newest, left, ahead, changes, suspects: [a, b] } = *self;
        let [a, b] = [[a.first, a.latest, a.readings], [b.first, b.latest, b.readings]];
        [due, newest, left, ahead, changes, a[0], a[1], a[2], b[0], b[1], b[2]]
    }

    /// Takes a reading, with generations of `length` nanoseconds. Returns the number of generations
    /// that have ended, if it follows the reading.
    pub(crate) fn read(&mut self, now: u64, length: u64) -> Option<u64> {
        if self.due == 0 {
            // The first generation begins now.
            *self = Self { newest: now, due: now.saturating_add(length).max(1), ..*self };
            return Some(0);
        }
        let is_behind = now < self.floor(length);
        let is_ahead = now > self.newest.saturating_add(length);
        if is_behind || is_ahead && self.left != 0 && now >= self.left {
            if !self.suspect(now, length) {
                return None;
            }
            self.changes += 1;
            if is_behind {
                self.fall_back(now);
                return Some(0);
            }
        }
        if now > self.newest {
            // The clock runs: the others are wrong.
            self.newest = now;
            self.suspects = Default::default();
            if now >= self.left {
                // It has reached the clock that was left. One that is still ahead stays suspect.
                self.left = if self.ahead > now { self.ahead } else { 0 };
            }
        }
        if now < self.due {
            return Some(0);
        }
        // Ends lie on a grid. The largest time ends no generation.
        let ended = (now - self.due) / length + 1;
        self.due = self.due.saturating_add(ended.saturating_mul(length));
        Some(ended)
    }

    /// Follows a clock that is behind. The end of the generation moves with it: no time passes.
    fn fall_back(&mut self, now: u64) {
        let due = now.saturating_add(self.due - self.newest).max(1);
        let (left, changes) = (self.newest, self.changes);
        *self = Self { due, newest: now, left, changes, ..Self::default() };
    }

    /// Takes a suspect reading. Returns whether its clock takes over: it has advanced by a
    /// generation.
    fn suspect(&mut self, now: u64, length: u64) -> bool {
        if now > self.newest {
            self.ahead = now;
        }
        if self.suspects.iter().any(|suspect| suspect.readings > 0 && suspect.latest == now) {
            // A time that is repeated does not run, and advances no clock below it.
            return false;
        }
        let mut is_lowest = true;
        for suspect in &mut self.suspects {
            if suspect.readings > 0 && suspect.latest < now {
                suspect.readings += 1;
                suspect.latest = now;
                is_lowest = false;
            }
        }
        if is_lowest {
            // A clock below all others replaces the lowest of them, so that no wrong reading lasts.
            let lowest = self.suspects.iter_mut().min_by_key(|suspect| suspect.latest);
            if let Some(suspect) = lowest {
                *suspect = Suspect { first: now, latest: now, readings: 1 };
            }
        }
        self.suspects
            .iter()
            .any(|suspect| suspect.readings >= READINGS && suspect.latest - suspect.first >= length)
    }

    /// Returns the time from which a reading has something to do.
    pub(crate) fn wake(&self, length: u64) -> u64 {
        let tick = if self.has_suspects() { 1 } else { (length / TICKS).max(1) };
        self.newest.saturating_add(tick).min(self.due)
    }

    /// Returns the time below which a reading is suspect.
    pub(crate) const fn floor(&self, length: u64) -> u64 {
        self.newest.saturating_sub(length)
    }

    /// Returns the time from which a reading waits for upkeep: the end of the generation, or, while
    /// another clock is suspect, the next time of this one.
    pub(crate) fn wait(&self) -> u64 {
        if self.has_suspects() { self.newest.saturating_add(1).min(self.due) } else { self.due }
    }

    /// Returns the part of the current generation that is over, in nanoseconds.
    pub(crate) const fn elapsed(&self, length: u64) -> u64 {
        length.saturating_sub(self.due.saturating_sub(self.newest))
    }

    fn has_suspects(&self) -> bool {
        self.suspects.iter().any(|suspect| suspect.readings > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    const LENGTH: u64 = 1000;
    const HOUR: u64 = 360 * LENGTH;
    /// A time far ahead, as a wrong unit or a wrong year brings it.
    const FAR: u64 = 1 << 60;

    /// A clock, and the time for which it has followed readings.
    struct Run {
        clock: Clock,
        passed: u64,
        ended: u64,
    }

    impl Run {
        fn new(first: u64) -> Self {
            let mut clock = Clock::default();
            assert_eq!(clock.read(first, LENGTH), Some(0));
            Self { clock, passed: 0, ended: 0 }
        }

        /// Takes a reading, and returns whether it is the newest of the clock that is followed.
        fn read(&mut self, now: u64) -> bool {
            let before = self.clock;
            let ended = self.clock.read(now, LENGTH);
            let after = &self.clock;
            // The end of the generation is at most a generation after the newest reading.
            let rest = after.due - after.newest;
            assert!(0 < rest && rest <= LENGTH, "{rest} is left");
            if ended.is_some() {
                self.passed += now.saturating_sub(before.newest);
            } else {
                assert_eq!(rest, before.due - before.newest, "a suspect reading makes time pass");
            }
            self.ended += ended.unwrap_or(0);
            assert_eq!(self.ended, self.passed / LENGTH, "generations are not on the grid");
            assert_eq!(Clock::of_words(after.words()), *after);
            after.newest == now
        }
    }

    /// Readings of several clocks and of none.
    fn readings() -> impl Strategy<Value = Vec<u64>> {
        let reading = prop_oneof![
            0..4 * HOUR,
            (HOUR - 3 * LENGTH)..(HOUR + 3 * LENGTH),
            (FAR - 3 * LENGTH)..(FAR + 3 * LENGTH),
            Just(FAR),
        ];
        prop::collection::vec(reading, 1..60)
    }

    proptest! {
        /// Generations end when the followed readings have advanced by their lengths, and one
        /// reading below the newest changes neither time, whatever came before.
        #[test]
        fn time_passes_with_followed_readings_only(readings in readings(), late in 0..2 * FAR) {
            let mut run = Run::new(readings[0]);
            for &now in &readings {
                run.read(now);
            }
            let calm = Clock { suspects: Default::default(), ..run.clock };
            let mut clock = calm;
            let late = late % calm.newest.max(1);
            prop_assert_eq!(clock.read(late, LENGTH).unwrap_or(0), 0);
            prop_assert_eq!((clock.due, clock.newest), (calm.due, calm.newest));
        }

        /// Whatever the readings were: two generations and four readings after the last wrong one,
        /// the clock runs again. It may stand still once more, for four readings, where it reaches
        /// a clock that was left.
        #[test]
        fn a_true_clock_takes_over(
            readings in readings(),
            base in 0..4 * HOUR,
            log_step in 0..16_u32,
            steps in prop::collection::vec(1..=1000_u64, 12..400),
        ) {
            let mut run = Run::new(readings[0]);
            for &now in &readings {
                run.read(now);
            }
            let most = 1 << log_step;
            let (mut now, mut stood) = (base, 0);
            for step in steps {
                let step = (step * most / 1000).max(1);
                now += step;
                if !run.read(now) {
                    stood += step;
                }
            }
            prop_assert!(stood <= 2 * LENGTH + 4 * most + 4 * most.max(LENGTH / 4), "{stood} at {most}");
        }

        /// The lower of two clocks in turn never counts, however far it is behind.
        #[test]
        fn of_two_clocks_in_turn_the_higher_counts(behind in 1..4 * HOUR, step in 1..LENGTH) {
            let first = 5 * HOUR;
            let mut run = Run::new(first);
            for now in (0..200).map(|number| first + number * step) {
                prop_assert!(run.read(now));
                prop_assert!(!run.read(now - behind));
            }
            prop_assert_eq!((run.clock.changes, run.passed), (0, 199 * step));
        }

        /// Nor does it keep the higher one from taking over from a time far ahead.
        #[test]
        fn of_two_clocks_after_a_wrong_time_the_higher_takes_over(behind in 1..4 * HOUR, step in 1..LENGTH / 4) {
            let mut run = Run::new(FAR);
            let first = 5 * HOUR;
            for now in (0..).map(|number| first + number * step).take_while(|now| now - first < 3 * LENGTH) {
                run.read(now - behind);
                let is_newest = run.read(now);
                prop_assert!(is_newest || now - first <= LENGTH + 4 * step, "{}", now - first);
            }
        }

        /// A time far ahead that is repeated makes time jump once; then the true clock runs.
        #[test]
        fn a_repeated_time_jumps_once(every in 1..300_u64, forged in 10 * HOUR..FAR) {
            let mut run = Run::new(HOUR);
            let mut jumps = 0;
            for number in 0..5000 {
                let before = run.passed;
                if number % every == 0 && number > 0 {
                    run.read(forged);
                    jumps += u64::from(run.passed - before > HOUR);
                }
                let in_time = run.read(HOUR + number * 50);
                prop_assert!(in_time || jumps == 1 && number < 2 * every + 60, "{number}");
            }
            prop_assert_eq!((jumps, run.clock.changes), (1, 1));
        }
    }

    /// A clock that is set back stands still for a generation, and then runs; also if it is read
    /// seldom.
    #[test]
    fn a_clock_that_is_set_back_runs_after_a_generation() {
        for step in [1, 10, 250, LENGTH, 5 * LENGTH, 40 * LENGTH] {
            let mut run = Run::new(10 * HOUR);
            let calls = (0..10_000).map(|call| 9 * HOUR + call * step);
            let until = calls.take_while(|&now| !run.read(now)).last().unwrap() - 9 * HOUR;
            // The next reading is followed.
            assert!(until < LENGTH.max(3 * step), "{until} at steps of {step}");
            assert!(until + step >= LENGTH.max(3 * step), "{until} at steps of {step}");
            assert_eq!((run.passed, run.clock.changes), (0, 1));
        }
    }

    /// After it was set back, a clock runs through the time that it had reached, also if it is read
    /// seldom; and a pause there passes, when it has been read for a generation.
    #[test]
    fn a_clock_that_was_set_back_passes_its_former_time() {
        for step in [LENGTH / 10, LENGTH, LENGTH * 11 / 10, 2 * LENGTH, 40 * LENGTH] {
            let mut run = Run::new(10 * HOUR);
            let calls = 30 * HOUR / step;
            (0..calls).for_each(|call| {
                run.read(9 * HOUR + call * step);
            });
            let lost = calls * step - run.passed;
            assert!(lost <= 2 * LENGTH.max(3 * step), "{lost} of the time at steps of {step}");
            assert!(run.clock.changes <= 2);
        }
        let mut run = Run::new(10 * HOUR);
        (0..20).for_each(|call| assert!(run.read(9 * HOUR + call * LENGTH / 10) == (call > 9)));
        let before = run.passed;
        (0..20).for_each(|call| {
            run.read(12 * HOUR + call * LENGTH / 10);
        });
        assert!(run.passed - before > 3 * HOUR - LENGTH, "a pause did not pass");
    }

    /// A wrong time that is repeated between the readings of a clock does not keep it from taking
    /// over.
    #[test]
    fn a_repeated_time_holds_up_no_clock() {
        for (first, wrong) in
            [(FAR, FAR / 2), (FAR, 20 * HOUR), (10 * HOUR, 10 * HOUR - 3 * LENGTH)]
        {
            for every in 1..10 {
                let mut run = Run::new(first);
                let mut stood = 0;
                for call in 0..1000_u64 {
                    stood += u64::from(!run.read(9 * HOUR + call * 50)) * 50;
                    if call % every == 0 {
                        run.read(wrong);
                    }
                }
                assert!(stood <= 2 * LENGTH + 200, "{stood} with {wrong} at each of {every} calls");
            }
        }
    }

    /// While a clock is suspect, each reading above the newest has something to do, and waits;
    /// otherwise only a tick does.
    #[test]
    fn a_suspect_clock_wakes_each_reading() {
        let mut run = Run::new(10 * HOUR);
        let calm = (10 * HOUR + LENGTH / TICKS, 10 * HOUR + LENGTH, 10 * HOUR - LENGTH);
        let times = |clock: &Clock| (clock.wake(LENGTH), clock.wait(), clock.floor(LENGTH));
        assert_eq!(times(&run.clock), calm);
        run.read(HOUR);
        assert_eq!(times(&run.clock), (10 * HOUR + 1, 10 * HOUR + 1, calm.2));
        assert!(run.read(10 * HOUR + 1));
        assert_eq!(times(&run.clock), (calm.0 + 1, calm.1, calm.2 + 1));
        // A filter that is loaded has the clock of the beginning of its generation.
        assert_eq!(times(&Clock::of_due(10 * HOUR + LENGTH, LENGTH)), calm);
    }

    /// Three late readings, however far apart, are no clock, and the fourth is one.
    #[test]
    fn a_few_late_readings_are_no_clock() {
        let mut run = Run::new(10 * HOUR);
        let late = [HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR];
        assert_eq!(late.map(|now| run.read(now)), [false, false, false, true]);
    }

    /// A host whose clock is an hour ahead, and sends now and then, makes time jump once, and not
    /// again an hour later.
    #[test]
    fn a_host_that_is_ahead_jumps_once() {
        let mut run = Run::new(HOUR);
        for number in 1..100_000_u64 {
            run.read(HOUR + number * 100);
            if number % 300 == 0 {
                run.read(2 * HOUR + number * 100);
            }
        }
        assert_eq!(run.clock.changes, 1);
        assert!(run.passed.abs_diff(100_000 * 100 + HOUR) < 3 * LENGTH, "{}", run.passed);
    }

    /// Wrong readings above and below a clock that was set back do not keep it from running.
    #[test]
    fn wrong_readings_do_not_hold_up_a_clock() {
        for wrong in [[5 * HOUR, 5 * HOUR], [1, 2], [5 * HOUR, 1], [9 * HOUR, 6 * HOUR]] {
            let mut run = Run::new(10 * HOUR);
            let mut until = 0;
            for call in 0..400_u64 {
                let now = 4 * HOUR + call * 20;
                if !run.read(now) {
                    until = call * 20;
                }
                if call % 7 == 3 && call < 50 {
                    run.read(wrong[call as usize / 7 % 2]);
                }
            }
            assert!(until < 2 * LENGTH, "{until} with {wrong:?}");
        }
    }
}
