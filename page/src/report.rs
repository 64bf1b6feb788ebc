//! The page of a run: its curves, what looked wrong, its last values and its recipe, in one file that needs no other.

pub(crate) mod curves;
mod events;
mod samples;
mod values;

use crate::html::{escaped, rows};
use halite_recipe::Recipe;
use halite_support::{Diagnostic, Result};
use halite_train::{Alarm, Seen};

/// Of a run that goes on: the page is written anew at each evaluation.
const RELOADED: &str = "<meta http-equiv=\"refresh\" content=\"15\">\n";

/// The page of a run under a title, as HTML. It asks for nothing from elsewhere, and follows the light or dark colours of its reader.
///
/// # Errors
/// A bug diagnostic when drawing fails, or when the recipe cannot be written as TOML.
pub fn report(title: &str, recipe: &Recipe, seen: &Seen<'_>) -> Result<String> {
    let toml = toml::to_string(recipe).map_err(|error| Diagnostic::bug(format!("the recipe as TOML: {error}")))?;
    let made = seen.history.steps.last().map_or(0, |record| record.step);
    Ok(format!(
        include_str!("report/report.html"),
        title = escaped(title),
        style = include_str!("page.css"),
        refresh = if seen.is_live && made < u64::from(recipe.train.steps) { RELOADED } else { "" },
        progress = escaped(&values::progress(recipe, made)),
        made_by = escaped(&values::made_by(recipe, seen.startups)),
        alarms = alarms(seen.alarms),
        events = events::list(seen.events),
        curves = curves::figures(seen)?,
        values = rows(&values::last(seen)),
        samples = samples::list(seen.samples),
        times = rows(&values::times(seen.times, seen.startups)),
        recipe = escaped(&toml),
    ))
}

/// A list of alarms, if there are any.
fn alarms(alarms: &[Alarm]) -> String {
    if alarms.is_empty() {
        return String::new();
    }
    let item = |alarm: &Alarm| {
        let (message, remedy) = (escaped(alarm.warning.message()), escaped(alarm.warning.remedy()));
        format!("<li><strong>{message}</strong><br>{remedy}</li>\n")
    };
    let items: String = alarms.iter().map(item).collect();
    format!("<section class=\"alarms\">\n<h2>Alarms</h2>\n<ul>\n{items}</ul>\n</section>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_recipe::{ModelChoice, Optimizer};
    use halite_support::codes;
    use halite_train::{Amount, EvalRecord, Event, HeldOutCount, History, Sample, Startup, StepRecord, Times};
    use std::path::Path;

    fn recipe() -> Recipe {
        Recipe::new(ModelChoice::new("llama"), 8, 64, Optimizer::new("adamw", 5e-3))
    }

    fn history(updates: u64) -> History {
        let noise = |step: u64| halite_bundle::Stream::new(1, "noise").normal_pair(step)[0];
        let curve = |step: u64| 1.9 + 3.6 * (-(step as f64) / 60.0).exp();
        let step = |step: u64| {
            let rate = 5e-3 * (step as f64 / 30.0).min(1.0) * (1.0 - step as f64 / (updates as f64 + 1.0));
            let metrics = [
                ("loss", curve(step) + 0.08 * noise(step)),
                ("grad_norm", 0.6 * (0.3 * noise(step + 1)).exp()),
                ("learning_rate", rate),
            ];
            let metrics = metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            StepRecord { step, seen: Amount::Tokens(step * 512), metrics }
        };
        let eval = |step| EvalRecord {
            step,
            data: String::new(),
            held_out_loss: curve(step) + 0.15,
            counted: HeldOutCount::Tokens(1),
            metrics: [].into(),
        };
        History {
            steps: (1..=updates).map(step).collect(),
            evals: (0..=updates / 50).map(|at| eval(at * 50)).collect(),
        }
    }

    fn times(updates: u64) -> Times {
        let line = |step: u64| {
            let seconds = 0.02 + 0.001 * (step % 7) as f64;
            format!(
                "{{\"step\":{step},\"tokens\":512,\"data_seconds\":0.001,\"step_seconds\":{seconds},\
                 \"evaluation_seconds\":0.0,\"writing_seconds\":0.0005}}\n"
            )
        };
        Times::parse(&(1..=updates).map(line).collect::<String>(), Path::new("t"), updates).unwrap()
    }

    fn startup(update: u64) -> Startup {
        Startup {
            update,
            compile_seconds: Some(1.5),
            update_seconds: Some(0.02),
            load_seconds: 4.25,
            halite: "0.0.7".to_owned(),
            platform: "cpu".to_owned(),
            os: "plan9".to_owned(),
            arch: "mips".to_owned(),
            cores: 3,
        }
    }

    fn example() -> String {
        let alarm = |message: &str| Alarm {
            step: 251,
            warning: Diagnostic::warning(codes::ALARM, message).help("lower the learning rate"),
        };
        let alarms = [alarm("the norm of the gradient rises: at update 251 it is 2 < 3")];
        let (history, times) = (history(300), times(300));
        let errors = vec!["a core < hangs".to_owned()];
        let events = [Event::Resume { update: 40 }, Event::Restart { update: 120, left: 1, errors }];
        let sample = |text: &str| Sample { step: 300, prompt: "It is <b>".to_owned(), text: text.to_owned() };
        let samples = [sample(" a truth\nuniversally & so on"), sample("")];
        let (history, times, alarms, events, samples) = (&history, &times, &alarms[..], &events[..], &samples[..]);
        let seen =
            Seen { history, times, alarms, events, startups: &[startup(0), startup(40)], samples, is_live: true };
        report("tiny <&> \"quoted\"", &recipe(), &seen).unwrap()
    }

    #[test]
    fn a_page_stands_alone_and_shows_all() {
        let html = example();
        if let Ok(path) = std::env::var("HALITE_PAGE") {
            std::fs::write(path, &html).unwrap();
        }
        for part in [
            "<title>tiny &lt;&amp;&gt; &quot;quoted&quot;</title>",
            "update 300 of 300",
            "seed 0 · Halite 0.0.7 · 3 cores on plan9 mips",
            "<tr><th>compiling, Halite</th><td>3.0 s, ",
            "<tr><th>compiling, cpu</th><td>8.5 s, ",
            "<h2>Samples after update 300</h2>",
            "<b>It is &lt;b&gt;</b> a truth\nuniversally &amp; so on",
            "it is 2 &lt; 3",
            "lower the learning rate",
            "after update 40 it was started again",
            "a core &lt; hangs",
            "Learning rate",
            "Tokens per second",
            "prefers-color-scheme: dark",
            "name = &quot;llama&quot;",
        ] {
            assert!(html.contains(part), "{part}");
        }
        assert_eq!(html.matches("<svg").count(), 4);
        assert!(!html.contains("http-equiv=\"refresh\""), "a run that ended stays as it is");
        // The name space of SVG is a name and no address that anything is fetched from.
        let rest = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for outside in ["http:", "https:", "src=", "@import", "url(", "<script", "<link"] {
            assert!(!rest.contains(outside), "{outside}");
        }
    }

    /// Two processes: the second began after update 40, is estimated at 0.02 s, and its first update warmed up.
    #[test]
    fn an_update_stands_beside_its_estimate() {
        let times = |mfu: &str| {
            let line = |step: u64| {
                let seconds = if step == 41 { 3.0 } else { 0.029 };
                format!(
                    "{{\"step\":{step},\"tokens\":512,\"data_seconds\":0.001,\"step_seconds\":{seconds},\
                     \"evaluation_seconds\":0.0,\"writing_seconds\":0.0{mfu}}}\n"
                )
            };
            Times::parse(&(1..=44).map(line).collect::<String>(), Path::new("t"), 44).unwrap()
        };
        let (history, startups) = (history(44), [startup(0), startup(40)]);
        let page = |times: &Times| {
            let (alarms, events, samples) = (&[][..], &[][..], &[][..]);
            let seen = Seen { history: &history, times, alarms, events, startups: &startups, samples, is_live: false };
            report("estimated", &recipe(), &seen).unwrap()
        };
        let html = page(&times(",\"mfu\":0.25"));
        assert!(html.contains("<th>an update</th><td>0.030 s, 1.50 of the estimated 0.020 s</td>"), "{html}");
        assert!(html.contains("<th>model FLOPs utilization</th><td>25.0%</td>"), "{html}");
        assert!(!page(&times("")).contains("an update</th>"), "a host is not what is estimated");
    }

    #[test]
    fn a_run_without_updates_has_a_page() {
        let (history, times) = (History::default(), Times::default());
        let (history, times, alarms, events, samples) = (&history, &times, &[][..], &[][..], &[][..]);
        let seen = Seen { history, times, alarms, events, startups: &[], samples, is_live: true };
        let html = report("none", &recipe(), &seen);
        let html = html.unwrap();
        assert!(html.contains("http-equiv=\"refresh\""), "a run that goes on is shown anew");
        assert!(
            html.contains("update 0 of 300") && !html.contains("<h2>Alarms</h2>") && !html.contains("<h2>Events</h2>")
        );
        assert!(!html.contains("<h2>Samples") && !html.contains("compiling"), "there are no empty boxes");
        let html = report("none", &recipe(), &Seen { is_live: false, ..seen }).unwrap();
        assert!(!html.contains("http-equiv=\"refresh\""), "what is read back later stays as it is");
    }
}
