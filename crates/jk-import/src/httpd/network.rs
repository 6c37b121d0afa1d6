//! Networks as `Require ip` and `Allow from` write them.

/// `10.0.0.0/8`, `10.1`, `10.0.0.0/255.0.0.0` or one address.
pub(super) fn of(text: &str) -> Option<String> {
    let (address, width) =
        text.split_once('/').map_or((text, None), |(address, width)| (address, Some(width)));
    if address.contains(':') {
        address.parse::<std::net::Ipv6Addr>().ok()?;
        let width: u8 = width.map_or(Some(128), |width| width.parse().ok())?;
        return (width <= 128).then(|| format!("{address}/{width}"));
    }
    let parts: Vec<&str> = address.trim_end_matches('.').split('.').collect();
    let mut all = parts.clone();
    all.resize(4, "0");
    let address: std::net::Ipv4Addr = all.join(".").parse().ok()?;
    let width = match width {
        Some(width) => match width.parse::<std::net::Ipv4Addr>() {
            Ok(mask) => mask.to_bits().leading_ones(),
            Err(_) => width.parse().ok()?,
        },
        None => u32::try_from(parts.len()).ok()? * 8,
    };
    let network = address.to_bits() & u32::MAX.checked_shl(32u32.checked_sub(width)?).unwrap_or(0);
    Some(format!("{}/{width}", std::net::Ipv4Addr::from_bits(network)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_in_all_their_forms() {
        for (text, expected) in [
            ("10.0.0.0/8", Some("10.0.0.0/8")),
            ("10.1", Some("10.1.0.0/16")),
            ("192.0.2.7", Some("192.0.2.7/32")),
            ("10.0.0.0/255.0.0.0", Some("10.0.0.0/8")),
            ("10.9.9.9/8", Some("10.0.0.0/8")),
            ("2001:db8::/32", Some("2001:db8::/32")),
            ("::1", Some("::1/128")),
            ("all", None),
            ("1.2.3.4/99", None),
            ("", None),
        ] {
            assert_eq!(of(text).as_deref(), expected, "{text}");
        }
    }
}
