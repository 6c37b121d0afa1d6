//! Tables, on the terminal and in `docs/performance.md`.

use std::fs;
use std::io;
use std::path::Path;

use super::chart;
use super::load::Sample;

pub(crate) struct Table {
    id: String,
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    bars: Vec<(String, f64)>,
}

impl Table {
    pub(crate) fn new(id: &str, title: &str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Self { id: id.to_owned(), title: title.to_owned(), columns, rows: Vec::new(), bars: Vec::new() }
    }

    pub(crate) fn row(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// A value for the chart.
    pub(crate) fn bar(&mut self, name: &str, value: f64) {
        self.bars.push((name.to_owned(), value));
    }

    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("{}:\n\n{}", self.title, line(&self.columns));
        text += &format!("|{}\n", "---|".repeat(self.columns.len()));
        for row in &self.rows {
            text += &line(row);
        }
        text
    }
}

/// Puts a table between its marks in the document, and its chart beside it.
pub(crate) fn write(root: &Path, table: &Table) -> io::Result<()> {
    let file = root.join("docs/performance.md");
    let text = fs::read_to_string(&file)?;
    let (begin, end) = (format!("<!-- bench {} -->\n", table.id), format!("<!-- /bench {} -->", table.id));
    let parts = text.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let Some((before, after)) = parts else {
        return Err(io::Error::other(format!("{}: no place marked for {}", file.display(), table.id)));
    };
    fs::write(&file, format!("{before}{begin}{}{end}{after}", table.markdown()))?;
    if table.id == "small-128-50" {
        fs::write(
            root.join("docs/performance.svg"),
            chart::bars(&table.title, "µs of CPU per request", &table.bars),
        )?;
    }
    Ok(())
}

pub(crate) fn median(samples: &[Sample], of: impl Fn(&Sample) -> f64) -> f64 {
    let mut values: Vec<f64> = samples.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
