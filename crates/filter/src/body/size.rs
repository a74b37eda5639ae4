//! How long a prompt is, counted while it is skipped.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Bytes of text that make a token, llm-d's estimate.
const BYTES_PER_TOKEN: u64 = 4;

/// Parts of a message by these names are no text.
const MEDIA: [&str; 6] = ["image_url", "input_image", "input_audio", "audio_url", "video_url", "input_video"];

/// What was counted of a JSON value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Bytes of all strings in it.
    bytes: u64,
    /// Numbers in it: a prompt may be given as token ids.
    ids: u64,
    /// Whether it has images, audio or video.
    pub(super) media: bool,
}

impl Size {
    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            ids: self.ids.saturating_add(other.ids),
            media: self.media || other.media,
        }
    }

    /// Estimated tokens, rounded up.
    pub(super) const fn tokens(self) -> u64 {
        self.bytes.div_ceil(BYTES_PER_TOKEN).saturating_add(self.ids)
    }

    const ID: Self = Self { bytes: 0, ids: 1, media: false };
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Counter)
    }
}

struct Counter;

impl<'de> Visitor<'de> for Counter {
    type Value = Size;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a prompt")
    }

    fn visit_bool<E>(self, _value: bool) -> Result<Size, E> {
        Ok(Size::default())
    }

    fn visit_i64<E>(self, _value: i64) -> Result<Size, E> {
        Ok(Size::ID)
    }

    fn visit_u64<E>(self, _value: u64) -> Result<Size, E> {
        Ok(Size::ID)
    }

    fn visit_f64<E>(self, _value: f64) -> Result<Size, E> {
        Ok(Size::ID)
    }

    fn visit_unit<E>(self) -> Result<Size, E> {
        Ok(Size::default())
    }

    fn visit_str<E>(self, text: &str) -> Result<Size, E> {
        Ok(Size { bytes: u64::try_from(text.len()).unwrap_or(u64::MAX), ..Size::default() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Size, A::Error> {
        let mut size = Size::default();
        while let Some(item) = items.next_element::<Size>()? {
            size = size.and(item);
        }
        Ok(size)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Size, A::Error> {
        let mut size = Size::default();
        while let Some(Name { media }) = entries.next_key()? {
            if media {
                // Its bytes are pixels or sound, and no text.
                size.media = true;
                entries.next_value::<IgnoredAny>()?;
            } else {
                size = size.and(entries.next_value()?);
            }
        }
        Ok(size)
    }
}

/// A key, as far as it matters.
struct Name {
    media: bool,
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(NameVisitor)
    }
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Name, E> {
        Ok(Name { media: MEDIA.contains(&name) })
    }
}

/// A number of tokens; what is none is the model server's to refuse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit(pub(super) Option<u64>);

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Ok(Self(value.as_u64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(json: &str) -> Size {
        serde_json::from_str(json).expect(json)
    }

    #[test]
    fn text_counts_by_its_bytes_ids_by_one_and_media_not_at_all() {
        for (json, tokens, media) in [
            (r#""12345678""#, 2, false),
            (r#""123456789""#, 3, false),
            (r#"["1234","5678"]"#, 2, false),
            ("[17,18,19]", 3, false),
            ("[[17],[18,19.0]]", 3, false),
            ("null", 0, false),
            (r#"[{"role":"user","content":"1234"}]"#, 2, false),
            (r#"[{"content":[{"type":"","image_url":{"url":"data:0123456789"}}]}]"#, 0, true),
            (r#"[{"content":[{"type":"input_audio","input_audio":{"data":"0123"}}]}]"#, 3, true),
        ] {
            let got = size(json);
            assert_eq!((got.tokens(), got.media), (tokens, media), "{json}");
        }
    }

    #[test]
    fn a_limit_that_is_none_is_not_ours_to_refuse() {
        for (json, want) in [("7", Some(7)), ("-1", None), ("\"7\"", None), ("null", None), ("{}", None)] {
            assert_eq!(serde_json::from_str::<Limit>(json).expect(json).0, want, "{json}");
        }
    }
}
