//! Places for texts beside dots.

/// The radius of a dot.
pub(super) const DOT: i32 = 6;
/// The width of a character and the height of a line, about.
const CHARACTER: i32 = 8;
const HEIGHT: i32 = 14;

/// A box on the page: left, top, right and bottom.
type Area = [i32; 4];

/// The places on a chart that are taken.
pub(super) struct Marks(Vec<Area>);

impl Marks {
    /// Those of dots.
    pub(super) fn new(dots: impl Iterator<Item = (i32, i32)>) -> Self {
        Self(dots.map(|(x, y)| [x - DOT, y - DOT, x + DOT, y + DOT]).collect())
    }

    /// Takes the place of a line to the right or upwards.
    pub(super) fn avoid(&mut self, one: (i32, i32), two: (i32, i32)) {
        let (left, top) = (one.0.min(two.0), one.1.min(two.1));
        self.0.push([left - 1, top - 1, one.0.max(two.0) + 1, one.1.max(two.1) + 1]);
    }

    /// The place of the middle of the left edge of a text, from its dot: the nearest that covers nothing, or least.
    pub(super) fn place(&mut self, (x, y): (i32, i32), text: &str) -> (i32, i32) {
        let width = CHARACTER * text.chars().count() as i32;
        let (right, left) = (DOT + 6, -DOT - 6 - width);
        let rows = [0, -12, 12, -24, 24, -36, 36];
        let places = rows.iter().flat_map(|&dy| [(right, dy), (left, dy), (-width / 2, dy)]);
        let area = |(dx, dy): (i32, i32)| [x + dx, y + dy - HEIGHT / 2, x + dx + width, y + dy + HEIGHT / 2];
        let covered = |place: &(i32, i32)| self.0.iter().map(|own| common(*own, area(*place))).sum::<i32>();
        let best = places.min_by_key(covered).unwrap_or((right, 0));
        self.0.push(area(best));
        best
    }
}

/// The size of what two boxes have in common.
fn common(a: Area, b: Area) -> i32 {
    let along = |low: usize, high: usize| (a[high].min(b[high]) - a[low].max(b[low])).max(0);
    along(0, 2) * along(1, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_dots_that_touch_do_not_cover_one_another() {
        let dots = [(100, 100), (104, 101), (101, 108), (99, 94)];
        let mut marks = Marks::new(dots.into_iter());
        for (at, dot) in dots.iter().enumerate() {
            marks.place(*dot, &(at + 1).to_string());
        }
        let Marks(all) = &marks;
        let texts = &all[dots.len()..];
        for (at, own) in texts.iter().enumerate() {
            assert!(all.iter().enumerate().all(|(other, area)| other == dots.len() + at || common(*own, *area) == 0));
        }
    }
}
