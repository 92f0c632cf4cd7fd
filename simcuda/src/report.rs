//! Messages of the simulated driver: every line starts with `simcuda:`; explanations of faults also go to the
//! log file.

use std::io::Write;
use std::path::PathBuf;

/// The output for explanations.
pub struct Reporter {
    log: Option<PathBuf>,
}

impl Reporter {
    /// Faults are appended to `log`.
    pub fn new(log: Option<PathBuf>) -> Reporter {
        Reporter { log }
    }

    /// One line to stderr.
    pub fn line(&self, text: &str) {
        say(text);
    }

    /// A fault, to stderr and to the log.
    pub fn fault(&self, text: &str) {
        say(text);
        let Some(path) = &self.log else { return };
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        if let Err(error) = file.and_then(|mut file| writeln!(file, "{text}")) {
            say(&format!("PARTITA_SIM_LOG: cannot append to {}: {error}", path.display()));
        }
    }
}

/// One line to stderr, before there is a driver.
pub fn say(text: &str) {
    // At once: the program's own lines go by another lock. A closed stderr is no reason to fail.
    let _ = std::io::stderr().write_all(format!("simcuda: {text}\n").as_bytes());
}
