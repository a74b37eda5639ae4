//! Slots on the PCI bus.

/// A slot on the PCI bus: `domain:bus:device.function`, all hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PciBusId {
    domain: u32,
    bus: u8,
    device: u8,
    function: u8,
}

impl PciBusId {
    /// Reads `00000000:1B:00.0`, `0000:1b:00.0` or `1b:00.0`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (front, function) = text.rsplit_once('.')?;
        let (front, device) = front.rsplit_once(':')?;
        let (domain, bus) = front.rsplit_once(':').unwrap_or(("0", front));
        let hex = |text: &str, digits: usize| {
            let plain =
                !text.is_empty() && text.len() <= digits && text.bytes().all(|b| b.is_ascii_hexdigit());
            plain.then(|| u32::from_str_radix(text, 16).ok()).flatten()
        };
        let byte = |text: &str, digits| hex(text, digits).and_then(|number| u8::try_from(number).ok());
        Some(Self {
            domain: hex(domain, 8)?,
            bus: byte(bus, 2)?,
            device: byte(device, 2)?,
            function: byte(function, 1)?,
        })
    }
}
