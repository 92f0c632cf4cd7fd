//! Marks in a device's work: the seconds between two of them are those of the work between.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use std::time::Instant;

use partita::prelude::*;

/// Computes `times` sums of an array.
fn work(device: &Device, times: usize) {
    let team = Team::on(std::slice::from_ref(device), 1).unwrap();
    let dist = Distribution::builder(&[4000]).parts(1).build().unwrap();
    let a = Array::from_fn(&team, &dist, |at| at[0] as f32).unwrap();
    for k in 0..times {
        (&a * k as f64).sum(&[]).eval().unwrap();
    }
}

#[test]
fn the_time_between_timestamps_is_that_of_the_work_between() {
    for device in found::devices() {
        work(&device, 2);
        let begin = Instant::now();
        let timestamps: Vec<_> =
            [1, 10, 0].map(|times| (work(&device, times), device.timestamp().unwrap()).1).into();
        let seconds = |from: usize, to: usize| timestamps[to].seconds_since(&timestamps[from]).unwrap();
        assert!(seconds(0, 1) > 0.0 && seconds(1, 0) == -seconds(0, 1), "{device:?}");
        // A simulated GPU's clock counts what it has done, not the time of day.
        if !(device.kind() == DeviceKind::Cuda && device.is_software()) {
            assert!(seconds(0, 2) <= begin.elapsed().as_secs_f64(), "{device:?}");
        }
        let sums = seconds(0, 1) + seconds(1, 2);
        assert!((sums - seconds(0, 2)).abs() <= 1e-6 + 1e-3 * sums, "{device:?}: {sums}");
        found::ran("timestamps", &device, 1);
    }
}

#[test]
fn timestamps_of_two_devices_are_refused() {
    let (one, other) = (Device::host(), Device::host());
    let error = other.timestamp().unwrap().seconds_since(&one.timestamp().unwrap()).unwrap_err();
    assert!(error.to_string().contains("expected two timestamps of one device"), "{error}");
}
