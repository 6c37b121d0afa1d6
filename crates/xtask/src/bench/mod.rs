//! jkgate beside its peers: everybody before one back end, in turns, in one run.

mod chart;
mod front;
mod idle;
mod load;
mod process;
mod report;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, ValueEnum};

use front::{Front, Settings, Stage};
use load::{Load, Sample, measure};
use report::{Table, median};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rounds; each gateway is measured once in each, in turns
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of load for each measurement
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// What to measure; everything if nothing is said
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// Write the tables into docs/performance.md and the chart beside it
    #[arg(long)]
    write: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Answers of 128 bytes and of 10 KB over kept connections
    Small,
    /// Each request on a connection of its own
    Close,
    /// 10 MB down and up
    Bulk,
    /// Memory of clients that wait
    Idle,
    /// Many mappings, workers, groups
    Scale,
    /// Threads, access log, start
    Own,
}

pub(crate) fn run(options: &Options) -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for program in ["wrk", "nginx", "haproxy", "apache2"] {
        if !Command::new(program)
            .arg("-v")
            .output()
            .is_ok_and(|output| !output.stdout.is_empty() || !output.stderr.is_empty())
        {
            return Err(io::Error::other(format!(
                "{program} is missing: apt-get install wrk nginx haproxy apache2 libapache2-mod-jk"
            )));
        }
    }
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--quiet", "-p", "jkgate", "-p", "jk-worker"])
        .current_dir(&root)
        .status()?;
    if !built.success() {
        return Err(io::Error::other("the programs could not be built"));
    }
    let folder = tempfile::tempdir()?;
    let bench = Bench {
        programs: root.join("target/release"),
        work: folder.path().to_owned(),
        rounds: options.rounds.max(1),
        seconds: options.seconds.max(1),
    };
    let parts: &[Part] = if options.parts.is_empty() { Part::value_variants() } else { &options.parts };
    for part in parts {
        let tables = match part {
            Part::Small => bench.small()?,
            Part::Close => bench.close()?,
            Part::Bulk => bench.bulk()?,
            Part::Idle => vec![idle::table(&bench.stage(128, 8192)?)?],
            Part::Scale => bench.scale()?,
            Part::Own => bench.own()?,
        };
        for table in &tables {
            println!("\n{}", table.markdown());
            if options.write {
                report::write(&root, table)?;
            }
        }
    }
    Ok(())
}

struct Bench {
    programs: PathBuf,
    work: PathBuf,
    rounds: usize,
    seconds: u64,
}

impl Bench {
    fn stage(&self, size: usize, packet: usize) -> io::Result<Stage> {
        Stage::open(&self.programs, &self.work, size, packet)
    }

    fn load(&self, connections: usize) -> Load {
        Load { connections, seconds: self.seconds, close: false, upload: 0 }
    }

    /// Everybody in turns, round by round.
    fn compare(&self, fronts: &[Front], load: Load) -> io::Result<BTreeMap<String, Vec<Sample>>> {
        let mut samples: BTreeMap<String, Vec<Sample>> = BTreeMap::new();
        for _ in 0..self.rounds {
            for front in fronts {
                let sample = measure(front, load, &self.work)?;
                eprintln!(
                    "{:>16} c={:<4} {:8.2} µs {:9.0}/s p99 {:.2} ms",
                    front.name, load.connections, sample.micros, sample.per_second, sample.latencies[1]
                );
                samples.entry(front.name.clone()).or_default().push(sample);
            }
        }
        Ok(samples)
    }

    fn small(&self) -> io::Result<Vec<Table>> {
        let mut tables = Vec::new();
        for (size, counts) in [(128, [10, 50, 200].as_slice()), (10_240, &[50])] {
            let stage = self.stage(size, 8192)?;
            let fronts = stage.everybody()?;
            for count in counts {
                let samples = self.compare(&fronts, self.load(*count))?;
                tables.push(latencies(
                    &format!("small-{size}-{count}"),
                    &format!("Answers of {size} bytes, {count} kept connections"),
                    &fronts,
                    &samples,
                ));
            }
        }
        Ok(tables)
    }

    fn close(&self) -> io::Result<Vec<Table>> {
        let stage = self.stage(128, 8192)?;
        let fronts = stage.everybody()?;
        let samples = self.compare(&fronts, Load { close: true, ..self.load(50) })?;
        Ok(vec![latencies("close", "Each request on a connection of its own, 50 at once", &fronts, &samples)])
    }

    fn bulk(&self) -> io::Result<Vec<Table>> {
        const MB: usize = 10;
        let mut tables = Vec::new();
        for packet in [8192, 65_536] {
            let stage = self.stage(MB * 1_000_000, packet)?;
            let fronts = stage.everybody()?;
            let down = self.compare(&fronts, self.load(4))?;
            drop(fronts);
            drop(stage);
            let stage = self.stage(128, packet)?;
            let fronts = stage.everybody()?;
            let up = self.compare(&fronts, Load { upload: MB * 1_000_000, ..self.load(4) })?;
            let mut table = Table::new(
                &format!("bulk-{packet}"),
                &format!("{MB} MB, 4 connections, AJP packets of {packet} bytes"),
                &["gateway", "down: µs of CPU per MB", "MB/s", "up: µs of CPU per MB", "MB/s"],
            );
            for front in &fronts {
                let mut row = vec![front.name.clone()];
                for samples in [down.get(&front.name), up.get(&front.name)] {
                    let samples = samples.map(Vec::as_slice).unwrap_or_default();
                    row.push(format!("{:.0}", median(samples, |sample| sample.micros / 10.0)));
                    row.push(format!("{:.0}", median(samples, |sample| sample.per_second * 10.0)));
                }
                table.row(row);
            }
            tables.push(table);
        }
        Ok(tables)
    }

    fn scale(&self) -> io::Result<Vec<Table>> {
        let stage = self.stage(128, 8192)?;
        let mut table = Table::new(
            "scale",
            "jkgate, 50 kept connections, answers of 128 bytes; the last mapping, \"/*\", serves",
            &[
                "mappings",
                "workers",
                "groups",
                "µs of CPU per request (lowest to highest)",
                "start, ms",
                "memory, MB",
            ],
        );
        let sizes = [(1, 1, 1), (1000, 1, 1), (100_000, 1, 1), (1, 100, 1), (1, 1000, 1), (100, 1000, 100)];
        let mut fronts = Vec::new();
        for (mappings, workers, groups) in sizes {
            let settings = Settings { mappings: mappings - 1, workers, groups, ..Settings::default() };
            fronts.push(stage.jkgate_with(
                &format!("{mappings} {workers} {groups}"),
                &settings,
                "/none/of/these",
            )?);
        }
        let memory: Vec<u64> = fronts.iter().map(|front| process::memory(front.pid())).collect();
        let samples = self.compare(&fronts, self.load(50))?;
        for (front, memory) in fronts.iter().zip(memory) {
            let mut row: Vec<String> = front.name.split(' ').map(str::to_owned).collect();
            row.push(spread(samples.get(&front.name).map(Vec::as_slice).unwrap_or_default()));
            row.push(format!("{:.0}", front.start.as_secs_f64() * 1e3));
            row.push(format!("{:.1}", kib_to_mb(memory)));
            table.row(row);
        }
        Ok(vec![table])
    }

    fn own(&self) -> io::Result<Vec<Table>> {
        let stage = self.stage(128, 8192)?;
        let mut table = Table::new(
            "own",
            "jkgate, 50 kept connections, answers of 128 bytes",
            &[
                "set up",
                "µs of CPU per request (lowest to highest)",
                "p99, ms",
                "start, ms",
                "memory at rest, MB",
            ],
        );
        let usual = Settings::default();
        let fronts = [
            ("as it is", usual.clone()),
            ("one thread", Settings { threads: Some(1), ..usual.clone() }),
            ("access log to a file", Settings { access_log: true, ..usual }),
        ];
        let fronts: Vec<Front> = fronts
            .iter()
            .map(|(name, settings)| stage.jkgate_with(name, settings, "/bench"))
            .collect::<io::Result<_>>()?;
        let memory: Vec<u64> = fronts.iter().map(|front| process::memory(front.pid())).collect();
        let samples = self.compare(&fronts, self.load(50))?;
        for (front, memory) in fronts.iter().zip(memory) {
            let own = samples.get(&front.name).map(Vec::as_slice).unwrap_or_default();
            table.row(vec![
                front.name.clone(),
                spread(own),
                format!("{:.2}", median(own, |sample| sample.latencies[1])),
                format!("{:.0}", front.start.as_secs_f64() * 1e3),
                format!("{:.1}", kib_to_mb(memory)),
            ]);
        }
        Ok(vec![table])
    }
}

fn latencies(id: &str, title: &str, fronts: &[Front], samples: &BTreeMap<String, Vec<Sample>>) -> Table {
    let mut table = Table::new(
        id,
        title,
        &["gateway", "µs of CPU per request (lowest to highest)", "p50, ms", "p99", "p99.9", "largest"],
    );
    for front in fronts {
        let own = samples.get(&front.name).map(Vec::as_slice).unwrap_or_default();
        let mut row = vec![front.name.clone(), spread(own)];
        for at in 0..4 {
            row.push(format!(
                "{:.2}",
                median(own, |sample| sample.latencies.get(at).copied().unwrap_or(0.0))
            ));
        }
        table.bar(&front.name, median(own, |sample| sample.micros));
        table.row(row);
    }
    table
}

/// Median, least and most CPU per request.
fn spread(samples: &[Sample]) -> String {
    let all = samples.iter().map(|sample| sample.micros);
    let (low, high) = (all.clone().fold(f64::MAX, f64::min), all.fold(0.0, f64::max));
    format!("{:.1} ({low:.1} to {high:.1})", median(samples, |sample| sample.micros))
}

#[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
fn kib_to_mb(kib: u64) -> f64 {
    kib as f64 * 1024.0 / 1e6
}
