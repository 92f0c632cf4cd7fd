//! The options of `cargo xtask test`. It does not know what the steps do.

/// Names that `--allow-missing` takes: what a machine may lack.
pub const MAY_BE_MISSING: &[&str] = &["wgpu", "cuda", "ptxas", "python", "mpi"];

/// The steps of a full run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Setup,
    Fmt,
    Clippy,
    Tidy,
    Tests,
    Doc,
    Smoke,
}

impl Step {
    /// All steps, in the order in which they run, by the names that `--only` takes.
    pub const ALL: &[(&str, Step)] = &[
        ("setup", Step::Setup),
        ("fmt", Step::Fmt),
        ("clippy", Step::Clippy),
        ("tidy", Step::Tidy),
        ("tests", Step::Tests),
        ("doc", Step::Doc),
        ("smoke", Step::Smoke),
    ];
}

/// The options of one call.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Say what is missing, install nothing.
    pub no_install: bool,
    /// Devices or tools whose absence is accepted.
    pub allow_missing: Vec<String>,
    /// The steps to run; empty means all.
    pub only: Vec<Step>,
}

impl Options {
    /// Whether the absence of `name` is accepted.
    pub fn may_miss(&self, name: &str) -> bool {
        self.allow_missing.iter().any(|allowed| allowed == name)
    }

    /// Whether `step` is to run.
    pub fn wants(&self, step: Step) -> bool {
        self.only.is_empty() || self.only.contains(&step)
    }
}

/// Reads the arguments after `test`.
pub fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--no-install" => options.no_install = true,
            "--allow-missing" => options.allow_missing.push(device(arguments.next())?),
            "--only" => options.only.push(step(arguments.next())?),
            _ => return Err(format!("`test` has no option `{argument}`")),
        }
    }
    Ok(options)
}

fn device(value: Option<&String>) -> Result<String, String> {
    let known = value.filter(|value| MAY_BE_MISSING.contains(&value.as_str()));
    known.cloned().ok_or_else(|| format!("`--allow-missing` takes one of: {}", MAY_BE_MISSING.join(", ")))
}

fn step(value: Option<&String>) -> Result<Step, String> {
    let known = Step::ALL.iter().find(|(name, _)| value.is_some_and(|value| value == name));
    let names = || Step::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    known.map(|(_, step)| *step).ok_or_else(|| format!("`--only` takes one of: {}", names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let options = read("--no-install --allow-missing wgpu --only fmt --only tidy").unwrap();
        assert!(options.no_install && options.may_miss("wgpu") && !options.may_miss("python"));
        assert!(options.wants(Step::Fmt) && options.wants(Step::Tidy) && !options.wants(Step::Tests));
        assert!(Options::default().wants(Step::Tests));
    }

    #[test]
    fn unknown_words_are_refused() {
        for line in ["--fast", "--allow-missing", "--allow-missing host", "--only everything"] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
