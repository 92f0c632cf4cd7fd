//! The simulated CUDA driver: built, and put where the dynamic loader finds it under the driver's name.
//! It does not know what runs on it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders in which drivers are installed.
const INSTALLED: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
];

/// The folder that holds the simulated driver as `libcuda.so.1`.
pub struct Driver {
    folder: PathBuf,
}

impl Driver {
    /// The driver that [`link`] puts there.
    pub fn of(root: &Path) -> Driver {
        Driver { folder: root.join("target/simcuda") }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lets `command` find this driver first, with so many devices.
    pub fn for_command(&self, command: &mut Command, devices: usize) {
        let before = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let folders = std::env::split_paths(&before);
        let all = std::iter::once(self.folder.clone()).chain(folders.filter(|f| !f.as_os_str().is_empty()));
        // A folder with a colon in its name cannot be put on the path; nothing then finds the driver.
        command.env("LD_LIBRARY_PATH", std::env::join_paths(all).unwrap_or(before));
        command.env("PARTITA_SIM_DEVICES", devices.to_string());
    }
}

/// Gives the built library the names the loader looks for.
pub fn link(root: &Path, driver: &Driver) -> std::io::Result<()> {
    std::fs::create_dir_all(&driver.folder)?;
    for name in ["libcuda.so.1", "libcuda.so"] {
        let link = driver.folder.join(name);
        if link.symlink_metadata().is_ok() {
            std::fs::remove_file(&link)?;
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(built(root, "libsimcuda.so"), link)?;
    }
    Ok(())
}

/// A file that cargo has built.
pub fn built(root: &Path, name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join("debug").join(name)
}

/// True if this machine has a CUDA driver of its own.
pub fn is_driver_installed() -> bool {
    INSTALLED.iter().any(|path| Path::new(path).exists())
}
