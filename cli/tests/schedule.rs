//! The learning rate of a run, as people are told of it. Needs the PJRT plugin: `halite plugin install`.

use crate::program::halite;

/// Updates after the end of a schedule without a floor change no weight: a warning says so before, and the progress lines show it.
#[test]
fn updates_without_a_learning_rate_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text.txt"), "an ant and a bee\n".repeat(40)).unwrap();
    let small =
        ["train", "tiny", "--text", "text.txt", "--set", "layers=1", "--set", "seq=16", "--set", "schedule.warmup=1"];
    let said = |more: &[&str]| {
        let output = halite(folder.path(), &[&small[..], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    };
    let ends = ["--set", "schedule.steps=3", "--set", "schedule.floor=0"];
    let three = said(&[&ends[..], &["-o", "run", "--steps", "3"]].concat());
    assert!(!three.contains("learning rate is 0"), "{three}");
    let five = said(&[&ends[..], &["-o", "run", "--steps", "5"]].concat());
    let told = five.find("the learning rate is 0 from update 3 on: the last 2 updates change nothing");
    let first = five.find("step     4/5").unwrap_or_else(|| panic!("{five}"));
    assert!(told.is_some_and(|told| told < first) && five.contains("schedule.steps = 5"), "{five}");
    assert!(five.contains("lr 0.00e0") && three.contains("lr 5.00e-3"), "{three}{five}");
    let on = said(&["--set", "schedule.steps=3", "--set", "schedule.floor=0.1", "-o", "other", "--steps", "5"]);
    assert!(!on.contains("learning rate is 0"), "{on}");
}
