//! A bar chart that reads well on light and on dark ground.

pub(crate) fn bars(title: &str, unit: &str, bars: &[(String, f64)]) -> String {
    const LINE: usize = 34;
    let most = bars.iter().map(|(_, value)| *value).fold(1.0, f64::max);
    let height = 60 + LINE * bars.len();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 {height}\" role=\"img\" aria-label=\"{title}: {unit}\">\n\
         <style>text{{font:14px system-ui,sans-serif;fill:#808080}}rect{{fill:#8aa0b8}}.own{{fill:#2f7ed8}}</style>\n\
         <text x=\"0\" y=\"20\">{title}: {unit}</text>\n"
    );
    for (number, (name, value)) in bars.iter().enumerate() {
        let top = 40 + LINE * number;
        let width = value / most * 420.0;
        let class = if name == "jkgate" { " class=\"own\"" } else { "" };
        svg += &format!(
            "<text x=\"0\" y=\"{}\">{name}</text><rect{class} x=\"130\" y=\"{top}\" width=\"{width:.0}\" height=\"22\" rx=\"3\"/>\
             <text x=\"{:.0}\" y=\"{}\">{value:.1}</text>\n",
            top + 16,
            138.0 + width,
            top + 16
        );
    }
    svg + "</svg>\n"
}
