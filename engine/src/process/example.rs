//! `example!` writes the example of a method's documentation: the lines it is given, below those that make
//! their array `u` (or, after `dist:`, the distribution alone). Doctests run all of them.

/// `#[doc = example!("assert_eq!(u.rank(), 2);")]`
macro_rules! example {
    (dist: $($line:literal)+) => {
        concat!(
            "\n\n# Examples\n```\n# use partita::prelude::*;\n",
            "let dist = Distribution::builder(&[2, 3]).grid(&[1, 2]).build()?;\n",
            $($line, "\n",)+
            "# Ok::<(), partita::Error>(())\n```"
        )
    };
    ($($line:literal)+) => {
        concat!(
            "\n\n# Examples\n```\n# use partita::prelude::*;\n",
            "# let team = Team::on(&[Device::host()], 2)?;\n",
            "# let dist = Distribution::builder(&[2, 3]).grid(&[1, 2]).build()?;\n",
            "let u = Array::from_slice(&team, &dist, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])?;\n",
            $($line, "\n",)+
            "# Ok::<(), partita::Error>(())\n```"
        )
    };
}
